#include "model_handle.h"

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/encoding.h"
#include "halftone/exchange.h"
#include "halftone/pattern_preview.h"
#include "halftone/plan.h"
#include "halftone/rewrite.h"
#include "halftone/sensitivity.h"
#include "halftone/tensor_report.h"
#include "reports.h"

namespace halftone::wasm {
namespace {

Error not_open() {
  return Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."};
}
Error not_loading() { return Error{ErrorCode::kInvalidState, "The model is not being loaded.", "", ""}; }

val named_json(const Result<Plan>& plan, const FileFacts& file) {
  return plan.ok() ? success(val(plan_to_json(plan.value(), file))) : failure(plan.error());
}

// Bytes of one sample's value, unknown dimensions counted as one; saturates where the product is absurd.
double sample_bytes(const GraphTensor& tensor) {
  double count = 1;
  if (tensor.shape) {
    for (const Dimension& dimension : *tensor.shape)
      count *= dimension.value > 0 ? static_cast<double>(dimension.value) : 1.0;
  }
  return count * static_cast<double>(sizeof(float));
}

Result<void> check_observable(const Graph& graph, const std::string& name) {
  const TensorId id = graph.find_tensor(name);
  if (id == kNone) {
    return Error{ErrorCode::kInvalidPolicy, "The model has no tensor \"" + printable(name) + "\".",
                 printable(name), "Take a name from the plan or from inspect."};
  }
  const GraphTensor& tensor = graph.tensor(id);
  if (tensor.constant) {
    return Error{ErrorCode::kInvalidPolicy,
                 "\"" + printable(name) + "\" is a constant, which no sample changes.", printable(name),
                 "Ask for the statistics of a weight without samples."};
  }
  if (tensor.type != DataType::kFloat && tensor.type != DataType::kUndefined) {
    return Error{ErrorCode::kUnsupportedType,
                 "\"" + printable(name) + "\" holds " + data_type_name(tensor.type) +
                     ", and only float32 can be observed.",
                 printable(name), "Choose a float tensor."};
  }
  return {};
}

val target_to_js(const Graph& graph, const std::string& name) {
  const GraphTensor& tensor = graph.tensor(graph.find_tensor(name));
  val entry = val::object();
  entry.set("tensor", name);
  entry.set("graphInput", tensor.graph_input);
  entry.set("bytes", sample_bytes(tensor));
  return entry;
}

// A constant's range is that of its own values.
bool is_observed(const Graph& graph, const Site& site) {
  if (!site.quantized || site.role != Role::kActivation) return false;
  const TensorId id = graph.find_tensor(site.tensor);
  return id == kNone || !graph.tensor(id).constant;
}

Result<std::vector<std::string>> target_names(const Graph& graph, const std::string& plan_json,
                                              const val& tensors) {
  std::vector<std::string> names;
  if (!plan_json.empty()) {
    Result<Plan> plan = plan_from_json(plan_json);
    if (!plan.ok()) return plan.error();
    for (const Site& site : plan.value().sites) {
      if (is_observed(graph, site)) names.push_back(site.tensor);
    }
  }
  std::unordered_map<std::string, bool> known;
  for (const std::string& name : names) known[name] = true;
  for (std::string& name : strings_from_js(tensors)) {
    if (known.emplace(name, true).second) names.push_back(std::move(name));
  }
  return names;
}

// A tensor that is observed without being a site of the plan gets the encoding that the plan's options would
// give it.
Site extra_site(const std::string& tensor, const PlanOptions& options) {
  Site site;
  site.tensor = tensor;
  site.quantized = true;
  site.format = options.activations.value_or(NumberFormat::kUint8);
  site.symmetric = options.activations_symmetric.value_or(false) ||
                   number_format_info(site.format).kind == FormatKind::kSmallFloat;
  site.aimet = aimet_grid_of(options);
  return site;
}

Result<Encodings> encodings_of(const Model& model, Plan& plan, std::span<const std::string> observed,
                               const std::unordered_map<std::string, MinMax>& ranges) {
  Encodings encodings;
  const auto add = [&](const Site& site) -> Result<void> {
    const auto range = ranges.find(site.tensor);
    Result<Encoding> encoding =
        activation_encoding(site, range == ranges.end() ? MinMax{} : range->second, float8_scale_of(plan));
    if (!encoding.ok()) return encoding.error();
    encodings.set(site.tensor, std::move(encoding).value());
    return {};
  };
  for (const Site& site : plan.sites) {
    if (!is_observed(model.graph(), site)) continue;
    if (const Result<void> added = add(site); !added.ok()) return added.error();
  }
  if (const Result<void> completed = complete_encodings(model, plan, encodings); !completed.ok())
    return completed.error();
  for (const std::string& tensor : observed) {
    if (encodings.find(tensor) != nullptr) continue;
    if (const Result<void> added = add(extra_site(tensor, plan.options)); !added.ok()) return added.error();
  }
  return encodings;
}

// Range, then histogram and noise of a whole constant.
Result<TensorReport> report_of(const ConstantTensor& constant, std::size_t bins,
                               std::optional<Encoding> encoding) {
  const Result<FloatView> values = FloatView::from_bytes(constant.bytes);
  if (!values.ok()) return values.error();
  const RangeStatistics range = range_of(values.value());
  Result<TensorReporter> reporter = TensorReporter::create({range.min, range.max}, bins, std::move(encoding));
  if (!reporter.ok()) return reporter.error();
  if (const Result<void> added = reporter.value().add(values.value(), constant.dims); !added.ok())
    return added.error();
  return reporter.value().report();
}

}  // namespace

ModelHandle::ModelHandle(ModelLoader loader) : loader_(std::move(loader)) {}

val ModelHandle::create(double file_bytes) {
  return guarded([&] {
    const Result<std::uint64_t> bytes = size_from_js(file_bytes);
    if (!bytes.ok()) return failure(bytes.error());
    Result<ModelLoader> loader = ModelLoader::create(bytes.value());
    if (!loader.ok()) return failure(loader.error());
    return success(val(std::make_shared<ModelHandle>(std::move(loader).value())));
  });
}

val ModelHandle::next(double wanted) {
  const Result<std::uint64_t> bytes = size_from_js(wanted);
  if (!loader_ || !bytes.ok())
    return val(emscripten::typed_memory_view(0, static_cast<std::uint8_t*>(nullptr)));
  const std::span<std::uint8_t> part = loader_->next(bytes.value());
  return val(emscripten::typed_memory_view(part.size(), part.data()));
}

val ModelHandle::commit(double bytes) {
  return guarded([&] {
    const Result<std::uint64_t> count = size_from_js(bytes);
    if (!count.ok()) return failure(count.error());
    if (!loader_) return failure(not_loading());
    const Result<void> committed = loader_->commit(count.value());
    return committed.ok() ? success() : failure(committed.error());
  });
}

val ModelHandle::parse() {
  return guarded([&] {
    if (!loader_) return failure(not_loading());
    const Result<std::vector<ExternalFile>> files = loader_->parse();
    if (!files.ok()) return failure(files.error());
    val list = val::array();
    for (const ExternalFile& file : files.value()) {
      val entry = val::object();
      entry.set("location", file.location);
      entry.set("minBytes", static_cast<double>(file.min_bytes));
      list.call<void>("push", entry);
    }
    return success(list);
  });
}

val ModelHandle::begin_external(const std::string& location, double file_bytes) {
  return guarded([&] {
    const Result<std::uint64_t> bytes = size_from_js(file_bytes);
    if (!bytes.ok()) return failure(bytes.error());
    if (!loader_) return failure(not_loading());
    const Result<void> begun = loader_->begin_external(location, bytes.value());
    return begun.ok() ? success() : failure(begun.error());
  });
}

val ModelHandle::finish() {
  return guarded([&] {
    if (!loader_) return failure(not_loading());
    Result<std::shared_ptr<const Model>> model = loader_->finish();
    if (!model.ok()) return failure(model.error());
    model_ = std::move(model).value();
    loader_.reset();
    return success();
  });
}

val ModelHandle::inspect(const std::string& name, const std::string& sha256) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    return success(val(inspect_to_json(*model_, {name, sha256})));
  });
}

val ModelHandle::plan(const val& options, const std::string& name, const std::string& sha256) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<PlanOptions> parsed = plan_options_from_js(options);
    if (!parsed.ok()) return failure(parsed.error());
    return named_json(make_plan(*model_, parsed.value()), {name, sha256});
  });
}

val ModelHandle::shapes_to_measure(const val& options) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<PlanOptions> parsed = plan_options_from_js(options);
    if (!parsed.ok()) return failure(parsed.error());
    return success(strings_to_js(halftone::shapes_to_measure(*model_, parsed.value())));
  });
}

val ModelHandle::check_plan(const std::string& plan_json) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<Plan> plan = plan_from_json(plan_json);
    if (!plan.ok()) return failure(plan.error());
    const Result<void> checked = halftone::check_plan(*model_, plan.value());
    return checked.ok() ? success() : failure(checked.error());
  });
}

val ModelHandle::preview_patterns(const val& patterns) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<std::vector<PatternMatch>> matches =
        halftone::preview_patterns(*model_, strings_from_js(patterns));
    if (!matches.ok()) return failure(matches.error());
    val list = val::array();
    for (const PatternMatch& match : matches.value()) {
      val entry = val::object();
      entry.set("pattern", match.pattern);
      entry.set("nodes", strings_to_js(match.nodes));
      entry.set("tensors", strings_to_js(match.tensors));
      entry.set("near_misses", strings_to_js(match.near_misses));
      list.call<void>("push", entry);
    }
    return success(list);
  });
}

val ModelHandle::scored(const std::string& choice) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<std::vector<std::string>> tensors = scored_tensors(*model_, choice);
    return tensors.ok() ? success(strings_to_js(tensors.value())) : failure(tensors.error());
  });
}

val ModelHandle::targets(const std::string& plan_json, const val& tensors) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Result<std::vector<std::string>> names = target_names(model_->graph(), plan_json, tensors);
    if (!names.ok()) return failure(names.error());
    val list = val::array();
    for (const std::string& name : names.value()) {
      if (const Result<void> checked = check_observable(model_->graph(), name); !checked.ok())
        return failure(checked.error());
      list.call<void>("push", target_to_js(model_->graph(), name));
    }
    return success(list);
  });
}

val ModelHandle::graph() const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const Graph& graph = model_->graph();
    const auto names = [&](std::span<const TensorId> ids) {
      val list = val::array();
      for (const TensorId id : ids)
        list.call<void>("push", id == kNone ? std::string() : graph.tensor(id).name);
      return list;
    };
    val nodes = val::array();
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const GraphNode& node = graph.nodes()[i];
      val entry = val::object();
      entry.set("label", graph.node_label(static_cast<NodeId>(i)));
      entry.set("op", node.op_type);
      entry.set("inputs", names(node.inputs));
      entry.set("outputs", names(node.outputs));
      nodes.call<void>("push", entry);
    }
    val constants = val::array();
    for (const GraphTensor& tensor : graph.tensors()) {
      if (tensor.constant) constants.call<void>("push", tensor.name);
    }
    val answer = val::object();
    answer.set("inputs", names(graph.inputs()));
    answer.set("outputs", names(graph.outputs()));
    answer.set("nodes", nodes);
    answer.set("constants", constants);
    return success(answer);
  });
}

val ModelHandle::outputs(const val& tensors, const std::string& plan_json) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    std::shared_ptr<const Model> base = model_;
    if (!plan_json.empty()) {
      const Result<Plan> plan = plan_from_json(plan_json);
      if (!plan.ok()) return failure(plan.error());
      Result<std::shared_ptr<const Model>> observed = observed_model(model_, plan.value());
      if (!observed.ok()) return failure(observed.error());
      base = std::move(observed).value();
    }
    const Result<std::shared_ptr<const Model>> extended = with_outputs(base, strings_from_js(tensors));
    if (!extended.ok()) return failure(extended.error());
    const Result<val> skeleton = skeleton_to_js(extended.value());
    return skeleton.ok() ? success(skeleton.value()) : failure(skeleton.error());
  });
}

val ModelHandle::encodings(const std::string& plan_json, const val& tensors, const val& minima,
                           const val& maxima, const val& facts) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    Result<Plan> plan = plan_from_json(plan_json);
    if (!plan.ok()) return failure(plan.error());
    std::unordered_map<std::string, MinMax> ranges;
    const std::vector<std::string> names = strings_from_js(tensors);
    for (std::size_t i = 0; i < names.size(); ++i)
      ranges[names[i]] = {minima[i].as<float>(), maxima[i].as<float>()};
    const Result<Encodings> made = encodings_of(*model_, plan.value(), names, ranges);
    if (!made.ok()) return failure(made.error());
    const FileFacts file{facts["name"].as<std::string>(), facts["sha256"].as<std::string>()};
    return success(val(encodings_to_json(made.value(), file, facts["method"].as<std::string>(),
                                         static_cast<std::int64_t>(facts["samples"].as<double>()))));
  });
}

val ModelHandle::statistics(const std::string& tensor, int bins, const std::string& encoding_json) const {
  return guarded([&] {
    if (!model_) return failure(not_open());
    const TensorId id = model_->graph().find_tensor(tensor);
    if (id == kNone || !model_->graph().tensor(id).constant) {
      return failure(Error{ErrorCode::kInvalidPolicy,
                           "\"" + printable(tensor) + "\" is no constant of the model.", printable(tensor),
                           "Give samples to measure an activation."});
    }
    const Result<ConstantTensor> constant = model_->constant(id);
    if (!constant.ok()) return failure(constant.error());
    if (constant.value().type != DataType::kFloat) {
      return failure(
          Error{ErrorCode::kUnsupportedType, "Only float32 tensors have statistics.", printable(tensor), ""});
    }
    Result<std::optional<Encoding>> encoding = encoding_from_json(encoding_json);
    if (!encoding.ok()) return failure(encoding.error());
    const Result<TensorReport> report =
        report_of(constant.value(), static_cast<std::size_t>(bins), std::move(encoding).value());
    return report.ok() ? success(tensor_report_to_js(tensor, report.value())) : failure(report.error());
  });
}

Result<std::shared_ptr<const Model>> ModelHandle::at_opset(std::int64_t opset) {
  if (model_->graph().opset() >= opset) return model_;
  if (converted_ == nullptr || converted_->graph().opset() != opset) {
    Result<std::shared_ptr<const Model>> converted = model_->with_opset(opset);
    if (!converted.ok()) return converted;
    converted_ = std::move(converted).value();
  }
  return converted_;
}

}  // namespace halftone::wasm
