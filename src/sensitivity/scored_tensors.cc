#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "halftone/sensitivity.h"

namespace halftone {
namespace {

constexpr std::array<std::string_view, 4> kSaturating = {"Softmax", "LogSoftmax", "Sigmoid", "HardSigmoid"};
constexpr std::array<std::string_view, 6> kTransparent = {"Reshape",   "Transpose", "Squeeze",
                                                          "Unsqueeze", "Identity",  "Cast"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

bool is_float(const GraphTensor& tensor) { return tensor.type == DataType::kFloat; }

// An output of unknown type may be float: inference knows no types behind custom operators, and the runner
// will tell.
bool may_be_float(const GraphTensor& tensor) {
  return is_float(tensor) || tensor.type == DataType::kUndefined;
}

// The tensor to compare in place of `output`: saturating functions squeeze every difference into nothing, so
// the tensor in front of one says more. The output itself where there is no such function, or where its input
// isn't a float.
TensorId in_front_of_saturation(const Graph& graph, TensorId output) {
  TensorId at = output;
  // A chain can't be longer than the graph, and a Graph has no cycles.
  while (true) {
    const NodeId producer = graph.tensor(at).producer;
    if (producer == kNone) return output;
    const GraphNode& node = graph.node(producer);
    if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNone) return output;
    const TensorId input = node.inputs[0];
    if (contains(kSaturating, node.op_type)) return may_be_float(graph.tensor(input)) ? input : output;
    if (!contains(kTransparent, node.op_type)) return output;
    at = input;
  }
}

constexpr std::string_view kByNumber = "output:";

Result<std::vector<std::string>> named_tensor(const Graph& graph, std::string_view choice) {
  const TensorId id = graph.find_tensor(choice);
  const std::string shown = printable(choice);
  const std::string next =
      "Name a float tensor of the graph, or \"output\" "
      "for the graph's outputs.";
  if (id == kNone)
    return Error{ErrorCode::kInvalidPolicy, "The model has no tensor named " + shown + " to score.", shown,
                 next};
  const GraphTensor& tensor = graph.tensor(id);
  if (tensor.constant)
    return Error{ErrorCode::kInvalidPolicy, "Tensor " + shown + " is a constant, which no quantizer changes.",
                 shown, next};
  if (!may_be_float(tensor))
    return Error{ErrorCode::kInvalidPolicy,
                 "Tensor " + shown + " holds " + data_type_name(tensor.type) +
                     ", and only float32 tensors can be scored.",
                 shown, next};
  return std::vector<std::string>{tensor.name};
}

Result<std::vector<std::string>> numbered_output(const Graph& graph, std::string_view choice) {
  const std::string_view digits = choice.substr(kByNumber.size());
  std::size_t number = 0;
  const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (!whole || number >= graph.outputs().size())
    return Error{
        ErrorCode::kInvalidPolicy, "The model has no output number " + printable(digits) + " to score.",
        printable(choice),
        "Outputs are numbered from 0; the model has " + std::to_string(graph.outputs().size()) + "."};
  return named_tensor(graph, graph.tensor(graph.outputs()[number]).name);
}

}  // namespace

Result<std::vector<std::string>> scored_tensors(const Model& model, std::string_view choice) {
  const Graph& graph = model.graph();
  // A tensor of that very name comes first.
  if (choice.starts_with(kByNumber) && graph.find_tensor(choice) == kNone)
    return numbered_output(graph, choice);
  if (!choice.empty() && choice != "output") return named_tensor(graph, choice);
  std::vector<std::string> names;
  for (const TensorId output : graph.outputs()) {
    const GraphTensor& tensor = graph.tensor(output);
    if (tensor.constant || !may_be_float(tensor)) continue;
    const TensorId scored = choice.empty() ? in_front_of_saturation(graph, output) : output;
    const std::string& name = graph.tensor(scored).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty())
    return Error{ErrorCode::kInvalidPolicy, "The model has no float32 output to score.", "",
                 "Name an inner float tensor to score instead."};
  return names;
}

Result<std::vector<std::string>> scored_tensors(const Model& model, std::span<const std::string> choices) {
  if (choices.empty()) return scored_tensors(model, std::string_view());
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const std::string& choice : choices) {
    const Result<std::vector<std::string>> chosen = scored_tensors(model, choice);
    if (!chosen.ok()) return chosen.error();
    for (const std::string& name : chosen.value())
      if (known.insert(name).second) names.push_back(name);
  }
  return names;
}

}  // namespace halftone
