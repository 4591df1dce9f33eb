// Conversion of one node through the door: see onnx_door.h.
//
// The library converts whole models, for which it looks at all names whenever it makes one (quadratic in
// nodes), and drops everything that its own representation doesn't have: functions, sparse tensors, external
// data, unknown fields. So each node that changes is given to it as a model of its own, and everything else
// stays untouched.
#include <algorithm>
#include <exception>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/graph_scopes.h"
#include "model/onnx_door.h"
#include "model/onnx_library.h"
#include "model/value_types.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <onnx/version_converter/convert.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace halftone {
namespace {

Error cannot_convert(const onnx::NodeProto& node, std::int64_t from, std::int64_t to,
                     const std::string& reason) {
  return {ErrorCode::kUnsupportedOpset,
          "Node " + describe_node(node) + " can't be converted from operator set " + std::to_string(from) +
              " to " + std::to_string(to) + ": " + reason,
          printable(node.name()),
          "Export the model with a newer operator set, or choose types that the present one has."};
}

// Inside the small model every tensor has a plain name of its own; these are the real ones.
class NodeModel {
 public:
  NodeModel(const onnx::NodeProto& node, const std::vector<NodeInputType>& inputs, std::int64_t from) {
    model_.set_ir_version(kNewestKnownIrVersion);
    model_.add_opset_import()->set_version(from);
    onnx::GraphProto& graph = *model_.mutable_graph();
    graph.set_name("node");
    onnx::NodeProto& copy = *graph.add_node();
    copy = node;
    copy.clear_domain();
    for (int i = 0; i < node.input_size(); ++i) {
      if (!node.input(i).empty())
        copy.set_input(i, input_name(node.input(i), inputs[static_cast<std::size_t>(i)]));
    }
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string name = "output_" + std::to_string(i);
      copy.set_output(i, name);
      real_names_.emplace(name, node.output(i));
      graph.add_output()->set_name(name);
    }
  }

  [[nodiscard]] const onnx::ModelProto& model() const { return model_; }

  // Gives the real names back, and new ones to what the converter put between.
  ConvertedNode collect(onnx::ModelProto& converted, const NameSource& fresh_name) {
    const std::string wanted = fresh_base() + "_converted";
    const auto restore = [&](std::string& name) {
      if (name.empty()) return;
      const auto place = real_names_.find(name);
      name = place != real_names_.end() ? place->second
                                        : real_names_.emplace(name, fresh_name(wanted)).first->second;
    };
    ConvertedNode made;
    onnx::GraphProto& graph = *converted.mutable_graph();
    for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
      restore(*tensor.mutable_name());
      made.initializers.push_back(std::move(tensor));
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (std::string& name : *node.mutable_input()) restore(name);
      for (std::string& name : *node.mutable_output()) restore(name);
      made.nodes.push_back(std::move(node));
    }
    return made;
  }

 private:
  const std::string& input_name(const std::string& real, const NodeInputType& input) {
    const auto [place, is_new] = input_names_.emplace(real, "input_" + std::to_string(input_names_.size()));
    if (!is_new) return place->second;
    real_names_.emplace(place->second, real);
    onnx::ValueInfoProto& info = *model_.mutable_graph()->add_input();
    info.set_name(place->second);
    if (input.type != DataType::kUndefined) *info.mutable_type() = type_proto(input.type, input.shape);
    return place->second;
  }

  [[nodiscard]] std::string fresh_base() const {
    for (int i = 0; i < model_.graph().output_size(); ++i) {
      const std::string& real = real_names_.at(model_.graph().output(i).name());
      if (!real.empty()) return real;
    }
    return model_.graph().node(0).op_type();
  }

  onnx::ModelProto model_;
  std::unordered_map<std::string, std::string> input_names_;  // real to small
  std::unordered_map<std::string, std::string> real_names_;   // small to real
};

// Every output must still be made, and nothing else but the inputs be read.
bool is_complete(const onnx::NodeProto& node, const ConvertedNode& converted) {
  std::unordered_set<std::string> made;
  for (const std::string& input : node.input()) made.insert(input);
  for (const onnx::TensorProto& tensor : converted.initializers) made.insert(tensor.name());
  for (const onnx::NodeProto& part : converted.nodes) {
    for (const std::string& input : part.input()) {
      if (!input.empty() && !made.contains(input)) return false;
    }
    for (const std::string& output : part.output()) made.insert(output);
  }
  return std::all_of(node.output().begin(), node.output().end(),
                     [&](const std::string& output) { return output.empty() || made.contains(output); });
}

}  // namespace

OperatorChange operator_change(std::string_view op_type, std::int64_t from, std::int64_t to) {
  register_operators();
  const onnx::OpSchema* before = find_schema(op_type, "", from);
  const onnx::OpSchema* after = find_schema(op_type, "", to);
  if (before == nullptr || after == nullptr) return OperatorChange::kUnknown;
  return before->since_version() == after->since_version() ? OperatorChange::kSame : OperatorChange::kChanged;
}

Result<ConvertedNode> convert_node(const onnx::NodeProto& node, const std::vector<NodeInputType>& inputs,
                                   std::int64_t from, std::int64_t to, const NameSource& fresh_name) {
  register_operators();
  if (from < kOldestConvertibleOpset) {
    return cannot_convert(
        node, from, to,
        "only sets from " + std::to_string(kOldestConvertibleOpset) + " on can be converted.");
  }
  if (operator_change(node.op_type(), from, to) == OperatorChange::kUnknown) {
    return cannot_convert(node, from, to, "the operator isn't known at both.");
  }
  try {
    static const onnx::version_conversion::DefaultVersionConverter converter;
    NodeModel small(node, inputs, from);
    // The adapters index inputs and attributes that the operator demands.
    find_schema(node.op_type(), "", from)->Verify(small.model().graph().node(0));
    onnx::ModelProto converted =
        converter.convert_version(small.model(), onnx::OpSetID(from), onnx::OpSetID(to));
    ConvertedNode made = small.collect(converted, fresh_name);
    if (!is_complete(node, made))
      return cannot_convert(node, from, to, "the converter lost one of its tensors.");
    return made;
  } catch (const std::exception& error) {
    return cannot_convert(node, from, to, library_message(error.what()));
  } catch (...) {
    return cannot_convert(node, from, to, "the converter failed without saying why.");
  }
}

}  // namespace halftone
