#include "reports.h"

#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "conversions.h"

namespace halftone::wasm {
namespace {

template <typename Number>
val counts_to_js(const std::map<std::string, Number>& counts) {
  val object = val::object();
  for (const auto& [name, count] : counts) object.set(name, static_cast<double>(count));
  return object;
}

double decibels(double signal, double noise) { return 10 * std::log10(signal / noise); }

bool stored_constant(const Graph& graph, const GraphTensor& tensor) {
  if (tensor.initializer) return true;
  return tensor.constant && tensor.producer != kNone && graph.node(tensor.producer).op_type == "Constant";
}

}  // namespace

val tensor_report_to_js(const std::string& tensor, const TensorReport& report) {
  val bins = val::array();
  for (const std::uint64_t count : report.histogram) bins.call<void>("push", static_cast<double>(count));
  val object = val::object();
  object.set("tensor", tensor);
  object.set("count", static_cast<double>(report.count));
  object.set("min", report.range.min);
  object.set("max", report.range.max);
  object.set("histogram", bins);
  object.set("clipped", number_or_null(report.clipped));
  object.set("sqnr", number_or_null(report.sqnr));
  return object;
}

val comparison_to_js(double psnr, const ErrorSums& sums) {
  val object = val::object();
  object.set("psnr", number_or_null(psnr));
  object.set("max_abs_error", number_or_null(sums.max_abs_error));
  object.set("sqnr", number_or_null(decibels(sums.expected_squares, sums.error_squares)));
  object.set("mse", number_or_null(sums.error_squares / static_cast<double>(sums.count)));
  object.set("cosine",
             number_or_null(sums.products / std::sqrt(sums.expected_squares * sums.actual_squares)));
  return object;
}

val quantized_type_counts_to_js(const QuantizedNodeStatistics& statistics) {
  val object = val::object();
  for (const auto& [op, count] : statistics.quantized_type_counts) object.set(op, static_cast<double>(count));
  return object;
}

val scale_growth_to_js(const std::vector<BranchGrowth>& growth) {
  val groups = val::array();
  val branches = val::undefined();
  const std::string* last = nullptr;
  for (const BranchGrowth& branch : growth) {
    if (last == nullptr || *last != branch.group) {
      branches = val::array();
      val group = val::object();
      group.set("group", branch.group);
      group.set("branches", branches);
      groups.call<void>("push", group);
      last = &branch.group;
    }
    val entry = val::object();
    entry.set("tensor", branch.tensor);
    entry.set("growth", number_or_null(static_cast<double>(branch.shared_scale) / branch.own_scale));
    branches.call<void>("push", entry);
  }
  return groups;
}

val site_counts_to_js(const Plan& plan) {
  std::uint64_t quantized = 0;
  std::map<std::string, std::uint64_t> by_rule;
  std::map<std::string, std::uint64_t> float_by_rule;
  for (const Site& site : plan.sites) {
    if (site.quantized) ++quantized;
    ++(site.quantized ? by_rule : float_by_rule)[site.rule];
  }
  val object = val::object();
  object.set("quantized", static_cast<double>(quantized));
  object.set("byRule", counts_to_js(by_rule));
  object.set("floatByRule", counts_to_js(float_by_rule));
  return object;
}

val sizes_by_type_to_js(const Model& model) {
  const Graph& graph = model.graph();
  std::map<std::string, std::uint64_t> bytes;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    if (!stored_constant(graph, graph.tensors()[i])) continue;
    const Result<ConstantTensor> constant = model.constant(static_cast<TensorId>(i));
    if (constant.ok()) bytes[data_type_name(constant.value().type)] += constant.value().bytes.size();
  }
  return counts_to_js(bytes);
}

}  // namespace halftone::wasm
