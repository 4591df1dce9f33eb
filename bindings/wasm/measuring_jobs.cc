#include "measuring_jobs.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/observer.h"
#include "halftone/sensitivity.h"
#include "halftone/statistics.h"
#include "halftone/tensor_report.h"
#include "reports.h"

namespace halftone::wasm {
namespace {

Error no_such_tensor() {
  return Error{ErrorCode::kInvalidState, "The job has no tensor of this number.", "", ""};
}

// Jobs over a fixed list of tensors, with one scratch buffer for each side.
template <typename Record>
class TensorJob : public Job {
 public:
  explicit TensorJob(int count) : records_(count > 0 ? static_cast<std::size_t>(count) : 0) {}

 protected:
  Record* record(int index) {
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < records_.size() ? &records_[at] : nullptr;
  }

  std::vector<Record> records_;
  std::vector<float> values_;
  std::vector<float> others_;
};

class ObserverJob final : public TensorJob<MinMaxObserver> {
 public:
  using TensorJob::TensorJob;

  val feed(int index, const val& values, const val&) override {
    return guarded([&] {
      MinMaxObserver* known = record(index);
      if (known == nullptr) return failure(no_such_tensor());
      if (const Result<void> read = floats_from_js(values, values_); !read.ok()) return failure(read.error());
      MinMaxObserver fresh;
      fresh.observe(values_);
      if (fresh.non_finite() > 0) return success(val(static_cast<double>(fresh.first_non_finite())));
      known->merge(fresh);
      return success();
    });
  }

  val result() override {
    return guarded([&] {
      val list = val::array();
      for (const MinMaxObserver& observer : records_) {
        val entry = val::object();
        const bool empty = observer.range().empty();
        entry.set("min", empty ? val::null() : val(observer.range().min));
        entry.set("max", empty ? val::null() : val(observer.range().max));
        entry.set("values", static_cast<double>(observer.values()));
        list.call<void>("push", entry);
      }
      return success(list);
    });
  }
};

struct Pair {
  PsnrAccumulator psnr;
  ErrorSums sums;
};

class ComparisonJob final : public TensorJob<Pair> {
 public:
  using TensorJob::TensorJob;

  val feed(int index, const val& expected, const val& actual) override {
    return guarded([&] {
      Pair* known = record(index);
      if (known == nullptr) return failure(no_such_tensor());
      if (const Result<void> read = floats_from_js(expected, values_); !read.ok())
        return failure(read.error());
      if (const Result<void> read = floats_from_js(actual, others_); !read.ok()) return failure(read.error());
      if (const Result<void> added = known->psnr.add(values_, others_); !added.ok())
        return failure(added.error());
      const Result<ErrorSums> sums =
          error_sums(std::span<const float>(values_), std::span<const float>(others_));
      if (!sums.ok()) return failure(sums.error());
      known->sums.merge(sums.value());
      return success();
    });
  }

  val result() override {
    return guarded([&] {
      val list = val::array();
      for (const Pair& pair : records_) {
        const Result<double> psnr = pair.psnr.score();
        if (!psnr.ok()) return failure(psnr.error());
        list.call<void>("push", comparison_to_js(psnr.value(), pair.sums));
      }
      return success(list);
    });
  }
};

class ReportJob final : public Job {
 public:
  ReportJob(std::string tensor, TensorReporter reporter)
      : tensor_(std::move(tensor)), reporter_(std::move(reporter)) {}

  val feed(int, const val& values, const val& dims) override {
    return guarded([&] {
      if (const Result<void> read = floats_from_js(values, values_); !read.ok()) return failure(read.error());
      std::vector<std::int64_t> shape;
      const std::size_t rank = dims["length"].as<std::size_t>();
      for (std::size_t axis = 0; axis < rank; ++axis)
        shape.push_back(static_cast<std::int64_t>(dims[axis].as<double>()));
      const Result<void> added = reporter_.add(std::span<const float>(values_), shape);
      return added.ok() ? success() : failure(added.error());
    });
  }

  val result() override {
    return guarded([&] { return success(tensor_report_to_js(tensor_, reporter_.report())); });
  }

 private:
  std::string tensor_;
  TensorReporter reporter_;
  std::vector<float> values_;
};

val handle(std::shared_ptr<Job> job) { return success(val(std::move(job))); }

}  // namespace

val create_observers(int count) {
  return guarded([&] { return handle(std::make_shared<ObserverJob>(count)); });
}

val create_comparison(int count) {
  return guarded([&] { return handle(std::make_shared<ComparisonJob>(count)); });
}

val create_report(const std::string& tensor, float min, float max, int bins,
                  const std::string& encoding_json) {
  return guarded([&] {
    Result<std::optional<Encoding>> encoding = encoding_from_json(encoding_json);
    if (!encoding.ok()) return failure(encoding.error());
    Result<TensorReporter> reporter = TensorReporter::create(
        {min, max}, bins > 0 ? static_cast<std::size_t>(bins) : 0, std::move(encoding).value());
    if (!reporter.ok()) return failure(reporter.error());
    return handle(std::make_shared<ReportJob>(tensor, std::move(reporter).value()));
  });
}

}  // namespace halftone::wasm
