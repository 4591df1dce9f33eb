// The list of formats, and formats on trial.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "codec_jobs.h"
#include "codec_options.h"
#include "conversions.h"
#include "halftone/format_trial.h"
#include "halftone/graph.h"
#include "halftone/statistics.h"

namespace halftone::wasm {
namespace {

constexpr std::size_t kPieceValues = std::size_t{1} << 18U;
constexpr std::uint64_t kLargeTensor = std::uint64_t{1} << 40U;

const char* needs_name(FormatNeeds needs) {
  switch (needs) {
    case FormatNeeds::kCodebook:
      return "codebook";
    case FormatNeeds::kTransform:
      return "transform";
    case FormatNeeds::kMatrix:
      return "matrix";
    case FormatNeeds::kNothing:
      break;
  }
  return "";
}

std::optional<double> usual_bits(const StorageFormat& format, std::uint64_t block) {
  const Result<std::uint32_t> size = storage_block_size(format, block);
  if (!size.ok()) return std::nullopt;
  const std::uint64_t count = kLargeTensor / size.value() * size.value();
  const Result<std::uint64_t> bytes = stored_bytes(format, size.value(), count);
  if (!bytes.ok()) return std::nullopt;
  return static_cast<double>(bytes.value()) * 8 / static_cast<double>(count);
}

template <typename Numbers>
val counts_to_js(const Numbers& counts) {
  val list = val::array();
  for (const std::uint64_t count : counts) list.call<void>("push", static_cast<double>(count));
  return list;
}

val error_to_js(const Error& error) {
  val entry = failure(error);
  entry.delete_("ok");
  return entry;
}

std::optional<double> sqnr_of(const ErrorSums& sums) {
  if (sums.expected_squares == 0.0 || sums.error_squares == 0.0) return std::nullopt;
  return 10.0 * std::log10(sums.expected_squares / sums.error_squares);
}

void set_figures(val& entry, const TrialFigures& figures) {
  entry.set("count", static_cast<double>(figures.count));
  entry.set("bytes", static_cast<double>(figures.bytes));
  entry.set("bitsPerWeight", figures.bits_per_weight);
  entry.set("maxError", figures.sums.max_abs_error);
  entry.set("rmsError", figures.rms_error);
  entry.set("sqnr", number_or_null(sqnr_of(figures.sums)));
  val errors = val::object();
  errors.set("limit", figures.error_limit);
  errors.set("counts", counts_to_js(figures.errors));
  entry.set("errors", errors);
  val levels = val::array();
  for (const double level : figures.levels) levels.call<void>("push", level);
  entry.set("levels", levels);
  entry.set("levelCounts", counts_to_js(figures.level_counts));
  val values = val::object();
  values.set("low", figures.low);
  values.set("high", figures.high);
  values.set("counts", counts_to_js(figures.values));
  values.set("below", static_cast<double>(figures.below));
  values.set("above", static_cast<double>(figures.above));
  entry.set("values", values);
}

struct Candidate {
  std::string name;
  double block = 0;
  std::optional<FormatTrial> trial;
  std::optional<Error> error;  // this format alone can't hold the tensor
};

// Several formats over the same values. One that fails is left out, the others go on.
class Candidates {
 public:
  Candidates(const val& choices, std::uint64_t count) : count_(count) {
    const auto size = choices["length"].as<std::size_t>();
    for (std::size_t i = 0; i < size; ++i)
      all_.push_back({choices[i][0].as<std::string>(), choices[i][1].as<double>(), {}, {}});
  }

  [[nodiscard]] bool need_largest() const {
    return std::any_of(all_.begin(), all_.end(), [](const Candidate& candidate) {
      const Result<const StorageFormat*> format = find_storage_format(candidate.name);
      return format.ok() && FormatTrial::needs_largest(*format.value());
    });
  }

  void open(float largest) {
    for (Candidate& candidate : all_) {
      const Result<FormatChoice> choice = format_choice(candidate.name, candidate.block);
      if (!choice.ok()) {
        candidate.error = choice.error();
        continue;
      }
      candidate.block = choice.value().block_size;
      Result<FormatTrial> trial =
          FormatTrial::open(*choice.value().format, choice.value().block_size, count_, largest);
      if (trial.ok()) {
        candidate.trial.emplace(std::move(trial).value());
      } else {
        candidate.error = trial.error();
      }
    }
  }

  void add(FloatView values) {
    for (Candidate& candidate : all_) {
      if (!candidate.trial) continue;
      if (const Result<void> added = candidate.trial->add(values); !added.ok()) {
        candidate.error = added.error();
        candidate.trial.reset();
      }
    }
  }

  val result() {
    val list = val::array();
    for (Candidate& candidate : all_) {
      val entry = val::object();
      entry.set("format", candidate.name);
      entry.set("block", candidate.block);
      if (candidate.trial) {
        const Result<TrialFigures> figures = candidate.trial->figures();
        if (!figures.ok()) return failure(figures.error());
        set_figures(entry, figures.value());
      } else if (candidate.error) {
        entry.set("error", error_to_js(*candidate.error));
      }
      list.call<void>("push", entry);
    }
    return success(list);
  }

 private:
  std::uint64_t count_;
  std::vector<Candidate> all_;
};

// NaN and infinity don't count: the formats say what is wrong with them.
float largest_of(const RangeStatistics& range) {
  if (range.min > range.max) return 0.0F;
  return std::max(std::abs(range.min), std::abs(range.max));
}

class FedTrial final : public FedJob {
 public:
  FedTrial(DataType type, std::uint64_t count, Candidates candidates)
      : FedJob(0), type_(type), count_(count), candidates_(std::move(candidates)) {
    ranging_ = candidates_.need_largest() && count > 0;
    if (!ranging_) candidates_.open(0.0F);
  }

  [[nodiscard]] int passes() const { return ranging_ ? 2 : 1; }

  val result() override {
    return guarded([&] { return candidates_.result(); });
  }

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override {
    return std::min<std::uint64_t>(count_ - done_, kPieceValues) * (data_type_bits(type_) / 8);
  }

  Result<void> use(std::span<const std::uint8_t> piece) override {
    values_.resize(piece.size() / (data_type_bits(type_) / 8));
    if (Result<void> converted = to_float32(type_, piece, values_); !converted.ok()) return converted;
    const FloatView values = std::span<const float>(values_);
    done_ += values.size();
    if (!ranging_) {
      candidates_.add(values);
      return {};
    }
    largest_ = std::max(largest_, largest_of(range_of(values)));
    if (done_ < count_) return {};
    ranging_ = false;
    done_ = 0;
    candidates_.open(largest_);
    return {};
  }

 private:
  DataType type_;
  std::uint64_t count_;
  Candidates candidates_;
  bool ranging_ = false;
  std::uint64_t done_ = 0;
  float largest_ = 0.0F;
  std::vector<float> values_;
};

class ConstantTrial final : public TensorJob {
 public:
  ConstantTrial(std::shared_ptr<const Model> model, FloatView values, Candidates candidates)
      : model_(std::move(model)), values_(values), candidates_(std::move(candidates)) {
    candidates_.open(candidates_.need_largest() ? largest_of(range_of(values_)) : 0.0F);
  }

  val commit(double bytes) override {
    return guarded([&] {
      const std::size_t left = values_.size() - done_;
      const double wanted = std::max(1.0, bytes / sizeof(float));
      const std::size_t count = wanted < static_cast<double>(left) ? static_cast<std::size_t>(wanted) : left;
      candidates_.add(values_.subview(done_, count));
      done_ += count;
      return success();
    });
  }

  val result() override {
    return guarded([&] { return candidates_.result(); });
  }

 private:
  std::shared_ptr<const Model> model_;  // holds the values
  FloatView values_;
  Candidates candidates_;
  std::size_t done_ = 0;
};

val trial_to_js(std::shared_ptr<TensorJob> job, int passes, double bytes) {
  val info = val::object();
  info.set("job", std::move(job));
  info.set("passes", passes);
  info.set("bytes", bytes);
  return success(info);
}

Error not_open() {
  return {ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."};
}

Result<ConstantTensor> float_constant(const Model& model, const std::string& tensor) {
  const TensorId id = model.graph().find_tensor(tensor);
  if (id == kNone || !model.graph().tensor(id).constant) {
    return Error{ErrorCode::kInvalidPolicy, "The model has no weight \"" + printable(tensor) + "\".",
                 printable(tensor), "Take a name from the list of weights."};
  }
  Result<ConstantTensor> constant = model.constant(id);
  if (constant.ok() && constant.value().type != DataType::kFloat) {
    return Error{ErrorCode::kUnsupportedType,
                 "\"" + printable(tensor) + "\" holds " + data_type_name(constant.value().type) +
                     ", and formats are compared on float32.",
                 printable(tensor), "Choose a float32 weight."};
  }
  return constant;
}

// Not what is folded out of others.
bool is_stored_float(const Graph& graph, const GraphTensor& tensor) {
  if (!tensor.constant || tensor.type != DataType::kFloat) return false;
  return tensor.initializer ||
         (tensor.producer != kNone && graph.node(tensor.producer).op_type == "Constant");
}

}  // namespace

val list_formats(double block) {
  return guarded([&] {
    const Result<std::uint64_t> size = size_from_js(block);
    if (!size.ok()) return failure(size.error());
    val list = val::array();
    for (const StorageFormat& format : storage_formats()) {
      val entry = val::object();
      entry.set("name", format.name);
      entry.set("family", std::string(format_family_name(format.family)));
      entry.set("bits", format.bits);
      entry.set("block", format.block_size);
      entry.set("anyBlock", format.any_block_size);
      entry.set("wholeBlocks", format.whole_blocks);
      entry.set("needs", std::string(needs_name(format.needs)));
      entry.set("bitsPerWeight", number_or_null(usual_bits(format, size.value())));
      entry.set("source", std::string(format.source));
      list.call<void>("push", entry);
    }
    return success(list);
  });
}

val create_trial(const std::string& type, const val& dims, const val& choices) {
  return guarded([&] {
    const Result<DataType> source = float_type_from_js(type);
    if (!source.ok()) return failure(source.error());
    const Result<std::vector<std::int64_t>> shape = dims_from_js(dims);
    if (!shape.ok()) return failure(shape.error());
    const std::uint64_t count = element_count(shape.value()).value_or(0);
    auto job = std::make_shared<FedTrial>(source.value(), count, Candidates(choices, count));
    const int passes = job->passes();
    const auto width = static_cast<double>(data_type_bits(source.value()) / 8);
    return trial_to_js(std::move(job), passes, static_cast<double>(count) * width);
  });
}

val create_constant_trial(const std::shared_ptr<ModelHandle>& model, const std::string& tensor,
                          const val& choices) {
  return guarded([&] {
    if (!model || !model->model()) return failure(not_open());
    const Result<ConstantTensor> constant = float_constant(*model->model(), tensor);
    if (!constant.ok()) return failure(constant.error());
    const Result<FloatView> values = FloatView::from_bytes(constant.value().bytes);
    if (!values.ok()) return failure(values.error());
    auto job = std::make_shared<ConstantTrial>(model->model(), values.value(),
                                               Candidates(choices, values.value().size()));
    return trial_to_js(std::move(job), 1, static_cast<double>(constant.value().bytes.size()));
  });
}

val weights_of(const std::shared_ptr<ModelHandle>& model, double least) {
  return guarded([&] {
    if (!model || !model->model()) return failure(not_open());
    val list = val::array();
    const Graph& graph = model->model()->graph();
    for (const GraphTensor& tensor : graph.tensors()) {
      if (!is_stored_float(graph, tensor)) continue;
      const Result<ConstantTensor> constant = float_constant(*model->model(), tensor.name);
      if (!constant.ok()) continue;
      const auto count = static_cast<double>(constant.value().float_count());
      if (count < least) continue;
      val entry = val::object();
      entry.set("tensor", tensor.name);
      val dims = val::array();
      for (const std::int64_t dim : constant.value().dims) dims.call<void>("push", static_cast<double>(dim));
      entry.set("dims", dims);
      entry.set("count", count);
      list.call<void>("push", entry);
    }
    return success(list);
  });
}

}  // namespace halftone::wasm
