#include "model_jobs.h"

#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/rewrite.h"
#include "halftone/writer.h"
#include "planned_model.h"
#include "reports.h"

namespace halftone::wasm {
namespace {

Error not_open() {
  return Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."};
}

class ExportJob final : public Job {
 public:
  explicit ExportJob(WrittenModel written) : written_(std::move(written)) {}

  val read(int part, double offset, double length) override {
    return guarded([&] {
      const Result<std::uint64_t> from = size_from_js(offset);
      const Result<std::uint64_t> wanted = size_from_js(length);
      const ByteRope& rope = part == 0 ? written_.model : written_.external_data;
      if (!from.ok() || !wanted.ok() || from.value() > rope.size() ||
          wanted.value() > rope.size() - from.value()) {
        return failure(
            Error{ErrorCode::kInternal, "A part outside the written model was asked for.", "", ""});
      }
      return success(pieces_to_js(rope.pieces(), from.value(), wanted.value()));
    });
  }

  [[nodiscard]] const WrittenModel& written() const { return written_; }

 private:
  WrittenModel written_;
};

val changes_to_js(const std::vector<Change>& changes) {
  val list = val::array();
  for (const Change& change : changes) {
    val entry = val::object();
    entry.set("what", change.what);
    entry.set("where", change.where);
    list.call<void>("push", entry);
  }
  return list;
}

}  // namespace

Result<WrittenModel> write_for_export(const std::shared_ptr<const Model>& model,
                                      const std::string& external_location) {
  const WeightPlacement placement =
      external_location.empty() ? WeightPlacement::kInside : WeightPlacement::kExternalFile;
  return write_model(model, {.placement = placement, .external_location = external_location});
}

std::shared_ptr<Job> export_job(WrittenModel written) {
  return std::make_shared<ExportJob>(std::move(written));
}

val create_export(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                  const std::string& encodings_json, const val& provenance,
                  const std::string& external_location) {
  return guarded([&] {
    if (!model->model()) return failure(not_open());
    Result<PlannedModel> planned = read_plan(*model->model(), plan_json, encodings_json);
    if (!planned.ok()) return failure(planned.error());
    Result<std::vector<Change>> settled = settle_biases(*model->model(), planned.value());
    if (!settled.ok()) return failure(settled.error());
    std::vector<Change> changes = std::move(settled).value();
    const Provenance origin{provenance["method"].as<std::string>(),
                            static_cast<std::int64_t>(provenance["samples"].as<double>()),
                            provenance["random"].isTrue()};
    Result<QuantizedModel> quantized =
        insert_qdq(model->model(), planned.value().plan, planned.value().encodings, origin);
    if (!quantized.ok()) return failure(quantized.error());
    const Model& made = *quantized.value().model;
    Result<WrittenModel> written = write_for_export(quantized.value().model, external_location);
    if (!written.ok()) return failure(written.error());
    changes.insert(changes.end(), quantized.value().changes.begin(), quantized.value().changes.end());
    val answer = val::object();
    answer.set("modelBytes", static_cast<double>(written.value().model.size()));
    answer.set("externalBytes", static_cast<double>(written.value().external_data.size()));
    answer.set("nodes", static_cast<double>(made.graph().nodes().size()));
    const QuantizedNodeStatistics statistics = print_stat(made.graph());
    answer.set("quantizedNodes", quantized_type_counts_to_js(statistics));
    answer.set("quantizedNodeNames", strings_to_js(statistics.quantized_node_names));
    answer.set("concatGroups",
               scale_growth_to_js(scale_growth(planned.value().plan, planned.value().encodings)));
    answer.set("sizesByType", sizes_by_type_to_js(made));
    answer.set("sites", site_counts_to_js(planned.value().plan));
    answer.set("changes", changes_to_js(changes));
    answer.set("warnings", warnings_to_js(made.warnings()));
    answer.set("job", export_job(std::move(written).value()));
    return success(answer);
  });
}

}  // namespace halftone::wasm
