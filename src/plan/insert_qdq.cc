// The deployable model: Q/DQ pairs, integer weights, and where it came from.
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "halftone/rewrite.h"
#include "halftone/version.h"
#include "plan/opset_needed.h"
#include "plan/qdq_writer.h"
#include "plan/quantizable_model.h"
#include "plan/raised_opset.h"
#include "plan/wording.h"

namespace halftone {
namespace {

// A bias at another scale than the product would be wrong in runtimes that fuse a Gemm and take the product
// for granted.
Result<void> check_bias_scales(const Site& site, const Encoding& bias, const Encodings& encodings) {
  const Encoding* activation = encodings.find(site.bias_of->activation);
  const Encoding* weight = encodings.find(site.bias_of->weight);
  bool equal = activation != nullptr && weight != nullptr && activation->scale.size() == 1 &&
               weight->scale.size() == bias.scale.size();
  for (std::size_t index = 0; equal && index < bias.scale.size(); ++index) {
    equal = bias.scale[index] == activation->scale.front() * weight->scale[index];
  }
  if (equal) return {};
  return Error{ErrorCode::kInvalidPolicy,
               "The scale of the bias " + quoted(site.tensor) +
                   " is not the product of those of its data input and weight.",
               printable(site.tensor), "Complete the encodings again after changing one."};
}

// TensorRT drops a Concat only if what it joins has the same scale to the last bit.
Result<void> check_scale_groups(const Plan& plan, const Encodings& encodings) {
  std::unordered_map<std::string_view, const Encoding*> first;
  for (const Site& site : plan.sites) {
    if (!site.quantized || !site.scale_group) continue;
    const Encoding* encoding = encodings.find(site.tensor);
    const Encoding* known = first.emplace(*site.scale_group, encoding).first->second;
    if (encoding->scale == known->scale && encoding->zero_point == known->zero_point) continue;
    return Error{ErrorCode::kInvalidPolicy,
                 "The scale of " + quoted(site.tensor) + " is not that of its group " +
                     quoted(*site.scale_group) + ".",
                 printable(site.tensor), "Complete the encodings again after changing one."};
  }
  return {};
}

Result<void> check_encodings(const Model& model, const Plan& plan, const Encodings& encodings) {
  for (const Site& site : plan.sites) {
    if (!site.quantized) continue;
    const Encoding* encoding = encodings.find(site.tensor);
    if (encoding == nullptr) {
      return Error{ErrorCode::kInvalidState,
                   "The tensor " + quoted(site.tensor) + " is to be quantized but has no encoding.",
                   printable(site.tensor), "Calibrate with this plan, and complete the encodings."};
    }
    Result<void> fits = check_encoding(model.graph(), site, *encoding);
    if (fits.ok() && site.role == Role::kBias) fits = check_bias_scales(site, *encoding, encodings);
    if (!fits.ok()) return fits;
  }
  return check_scale_groups(plan, encodings);
}

void say_constant(const Graph& graph, const Site& site, std::vector<Change>& changes) {
  const GraphTensor& tensor = graph.tensor(graph.find_tensor(site.tensor));
  const bool others =
      tensor.consumers.size() > site.consumers.size() || tensor.read_by_subgraph || tensor.graph_output;
  changes.push_back({"Stored as " + std::string(number_format_info(site.format).name) +
                         " codes; the float values " +
                         (others ? "stay for their other readers." : "are no longer in the model."),
                     printable(site.tensor)});
}

void say_output(const Graph& graph, const Site& site, std::vector<Change>& changes) {
  if (!graph.tensor(graph.find_tensor(site.tensor)).graph_output) return;
  changes.push_back({site.serves_output ? "Comes out of the model dequantized."
                                        : "Stays a float output of the model; inside it is read quantized.",
                     printable(site.tensor)});
}

void say_direct(const Site& site, const Encoding& encoding, std::vector<Change>& changes) {
  char scale[32];  // nine digits tell all float32 numbers apart
  std::snprintf(scale, sizeof(scale), "%.9g", static_cast<double>(encoding.scale.front()));
  changes.push_back({std::string(site.serves_output ? "The model gives " : "The model takes ") +
                         std::string(number_format_info(site.format).name) + " codes here, at the scale " +
                         scale + ".",
                     printable(site.tensor)});
}

Result<void> write_site(const Model& model, const PlanOptions& options, const Site& site,
                        const Encoding& encoding, QdqWriter& writer, std::vector<Change>& changes) {
  if (options.direct_io && is_direct(model.graph(), site)) {
    say_direct(site, encoding, changes);
    return writer.add_direct(site, encoding);
  }
  const Graph& graph = model.graph();
  if (!graph.tensor(graph.find_tensor(site.tensor)).constant) {
    say_output(graph, site, changes);
    return writer.add_pair(site, encoding);
  }
  if (site.role == Role::kWeight && options.float_weights) return writer.add_pair(site, encoding);
  say_constant(graph, site, changes);
  return writer.add_integer_constant(site, encoding);
}

void write_origin(const Plan& plan, const Provenance& provenance, ModelEditor& editor) {
  editor.set_metadata("halftone.tool", "halftone");
  editor.set_metadata("halftone.version", std::string(kVersion));
  editor.set_metadata("halftone.commit", std::string(version_commit()));
  editor.set_metadata("halftone.target", std::string(target_name(plan.target)));
  if (plan.match) editor.set_metadata("halftone.match", *plan.match);
  editor.set_metadata("halftone.method", provenance.method);
  editor.set_metadata("halftone.samples", std::to_string(provenance.samples));
  if (provenance.random_data) editor.set_metadata("halftone.random_data", "true");
}

// What the rewrite did to the file as a whole is in the new model's warnings; those of the base are no
// change.
void say_new_warnings(const Model& before, const Model& after, std::vector<Change>& changes) {
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (const Warning& warning : before.warnings()) known.emplace(warning.code, warning.message);
  for (const Warning& warning : after.warnings()) {
    if (known.emplace(warning.code, warning.message).second)
      changes.push_back({warning.message, warning.where});
  }
}

// What stays float may read what it likes.
Plan quantized_part(const Graph& graph, const Plan& plan) {
  Plan part;
  for (const Site& site : plan.sites) {
    if (site.quantized) part.sites.push_back(site_in(graph, site));
  }
  return part;
}

// The model that the plan's names are looked up in, raised if need be.
Result<std::shared_ptr<const Model>> prepared(const std::shared_ptr<const Model>& model, const Plan& plan,
                                              std::vector<Change>& changes) {
  const std::int64_t needed = opset_needed_for(plan);
  Result<std::shared_ptr<const Model>> raised = raised_to(model, needed);
  if (!raised.ok() || raised.value() == model) return raised;
  const Result<void> fits = check_plan(*raised.value(), quantized_part(raised.value()->graph(), plan));
  if (!fits.ok()) {
    return Error{ErrorCode::kUnsupportedOpset,
                 "Raising the model to opset " + std::to_string(needed) +
                     " changed it so that the plan doesn't fit: " + fits.error().message,
                 fits.error().where, "Raise the opset when exporting the model, and plan again."};
  }
  changes.push_back({"Raised the opset from " + std::to_string(model->graph().opset()) + " to " +
                         std::to_string(needed) + ", which the chosen number formats need.",
                     ""});
  return raised;
}

}  // namespace

Result<QuantizedModel> insert_qdq(const std::shared_ptr<const Model>& model, const Plan& plan,
                                  const Encodings& encodings, const Provenance& provenance) {
  Result<void> fits = check_not_quantized(*model);
  if (fits.ok()) fits = check_plan(*model, plan);
  if (fits.ok()) fits = check_encodings(*model, plan, encodings);
  if (!fits.ok()) return fits.error();

  QuantizedModel result;
  const Result<std::shared_ptr<const Model>> base = prepared(model, plan, result.changes);
  if (!base.ok()) return base.error();
  ModelEditor editor(base.value());
  QdqWriter writer(*base.value(), editor);
  for (const Site& site : plan.sites) {
    if (!site.quantized) continue;
    const Result<void> written = write_site(*base.value(), plan.options, site_in(base.value()->graph(), site),
                                            *encodings.find(site.tensor), writer, result.changes);
    if (!written.ok()) return written.error();
  }
  write_origin(plan, provenance, editor);
  Result<std::shared_ptr<const Model>> finished = std::move(editor).finish();
  if (!finished.ok()) return finished.error();
  result.model = std::move(finished).value();
  say_new_warnings(*model, *result.model, result.changes);
  return result;
}

}  // namespace halftone
