#include "model/opset_conversion.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_scopes.h"
#include "model/ir_version.h"
#include "model/onnx_door.h"
#include "model/unique_names.h"
#include "model/value_types.h"

namespace halftone {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

Error unsupported(const std::string& message, std::string where = "") {
  return {ErrorCode::kUnsupportedOpset, message, std::move(where),
          "Export the model with a newer operator set, or choose types that the present one has."};
}

bool same_value(const onnx::AttributeProto& a, const onnx::AttributeProto& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return a.i() == b.i() && !(a.f() < b.f()) && !(b.f() < a.f()) && a.s() == b.s() &&
         equal(a.ints(), b.ints()) && equal(a.floats(), b.floats()) && equal(a.strings(), b.strings());
}

// Attributes that the library need not see: it would copy them, or refuse them.
bool is_opaque(const onnx::AttributeProto& attribute) {
  return attribute.has_sparse_tensor() || attribute.graphs_size() > 0 || attribute.tensors_size() > 0 ||
         attribute.sparse_tensors_size() > 0 || attribute.has_tp() || attribute.type_protos_size() > 0;
}

// The node as the library gets it: no bulk bytes, no bodies.
onnx::NodeProto light_copy(const onnx::NodeProto& node) {
  onnx::NodeProto light;
  light.set_op_type(node.op_type());
  *light.mutable_input() = node.input();
  *light.mutable_output() = node.output();
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (is_opaque(attribute)) continue;
    onnx::AttributeProto& copy = *light.add_attribute();
    copy.set_name(attribute.name());
    copy.set_type(attribute.type());
    if (attribute.has_g()) {
      copy.mutable_g()->set_name("body");
    } else if (attribute.has_t()) {
      copy.mutable_t()->set_data_type(attribute.t().data_type());
      *copy.mutable_t()->mutable_dims() = attribute.t().dims();
    } else {
      copy = attribute;
    }
  }
  return light;
}

// The original node with what the conversion changed.
onnx::NodeProto merge(const onnx::NodeProto& original, onnx::NodeProto& converted) {
  onnx::NodeProto merged = original;
  merged.set_op_type(converted.op_type());
  merged.mutable_input()->Swap(converted.mutable_input());
  merged.mutable_output()->Swap(converted.mutable_output());
  merged.clear_attribute();
  std::unordered_map<std::string_view, const onnx::AttributeProto*> left;
  for (const onnx::AttributeProto& attribute : converted.attribute())
    left.emplace(attribute.name(), &attribute);
  for (const onnx::AttributeProto& attribute : original.attribute()) {
    const auto place = left.find(attribute.name());
    if (place == left.end() && !is_opaque(attribute)) continue;
    const bool keep = place == left.end() || attribute.has_g() || attribute.has_t() ||
                      same_value(attribute, *place->second);
    *merged.add_attribute() = keep ? attribute : *place->second;
    if (place != left.end()) left.erase(place);
  }
  for (const onnx::AttributeProto& attribute : converted.attribute()) {
    if (left.contains(attribute.name())) *merged.add_attribute() = attribute;
  }
  return merged;
}

// Declared types in the graphs around a node, innermost last.
class TypesInScope {
 public:
  explicit TypesInScope(const Graph& graph) : graph_(graph) {}

  void enter(const onnx::GraphProto& body) {
    auto& types = bodies_.emplace_back();
    for (const auto& info : body.input()) add(types, info.name(), value_type(info.type()));
    for (const auto& info : body.output()) add(types, info.name(), value_type(info.type()));
    for (const auto& info : body.value_info()) add(types, info.name(), value_type(info.type()));
    for (const auto& tensor : body.initializer()) add(types, tensor.name(), value_type(tensor));
    for (const auto& node : body.node()) {
      for (const std::string& output : node.output()) types.try_emplace(output);
    }
  }
  void leave() { bodies_.pop_back(); }

  [[nodiscard]] NodeInputType find(const std::string& name) const {
    for (std::size_t i = bodies_.size(); i > 0; --i) {
      const auto place = bodies_[i - 1].find(name);
      if (place != bodies_[i - 1].end()) return place->second;
    }
    const TensorId id = graph_.find_tensor(name);
    return id == kNone ? NodeInputType{} : NodeInputType{graph_.tensor(id).type, graph_.tensor(id).shape};
  }

 private:
  using Types = std::unordered_map<std::string, NodeInputType>;
  static void add(Types& types, const std::string& name, ValueType type) {
    types[name] = NodeInputType{type.type, std::move(type.shape)};
  }

  const Graph& graph_;
  std::vector<Types> bodies_;
};

class OpsetConverter {
 public:
  OpsetConverter(const ModelData& base, std::int64_t to)
      : base_(base), from_(base.graph->opset()), to_(to), names_(base.skeleton), types_(*base.graph) {}

  Result<std::shared_ptr<const Model>> run() {
    auto data = std::make_shared<ModelData>();
    data->skeleton = base_.skeleton;
    data->store = base_.store;
    for (const Warning& warning : base_.warnings) {
      if (warning.code != "checker_failed") data->warnings.push_back(warning);
    }
    onnx::ModelProto& model = data->skeleton;
    if (Result<void> done = convert_graph(*model.mutable_graph(), 0); !done.ok()) return done.error();
    for (auto& function : *model.mutable_functions()) {
      if (Result<void> done = raise_function(function); !done.ok()) return done.error();
    }
    for (auto& set : *model.mutable_opset_import()) {
      if (canonical_domain(set.domain()).empty()) set.set_version(to_);
    }
    if (made_initializers_) {
      if (auto raised = raise_ir_version(model, kIrWithFreeInitializers))
        data->warnings.push_back(*std::move(raised));
    }
    for (Warning& warning : check_with_library(model)) data->warnings.push_back(std::move(warning));
    return finish_derived(std::move(data), base_, Derivation{std::move(converted_), {}, {}});
  }

 private:
  // Recursion is bounded by kMaxSubgraphDepth.
  Result<void> convert_graph(onnx::GraphProto& graph, int depth) {
    Nodes converted;
    std::vector<bool> flags;
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      if (Result<void> done = convert_bodies(node, depth); !done.ok()) return done;
      const bool standard = canonical_domain(node.domain()).empty();
      const OperatorChange change =
          standard ? operator_change(node.op_type(), from_, to_) : OperatorChange::kSame;
      if (change == OperatorChange::kUnknown && !is_own_function(node)) {
        return unsupported("The operator of node " + describe_node(node) + " isn't known in operator set " +
                               std::to_string(from_) + " or " + std::to_string(to_) + ".",
                           printable(node.name()));
      }
      if (change != OperatorChange::kChanged) {
        converted.Add()->Swap(&node);
        flags.push_back(false);
      } else if (Result<void> done = convert(node, graph, converted, flags); !done.ok()) {
        return done;
      }
    }
    graph.mutable_node()->Swap(&converted);
    if (depth == 0) converted_ = std::move(flags);
    return {};
  }

  Result<void> convert_bodies(onnx::NodeProto& node, int depth) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) {
        if (Result<void> done = convert_body(*attribute.mutable_g(), depth); !done.ok()) return done;
      }
      for (auto& body : *attribute.mutable_graphs()) {
        if (Result<void> done = convert_body(body, depth); !done.ok()) return done;
      }
    }
    return {};
  }

  Result<void> convert_body(onnx::GraphProto& body, int depth) {
    types_.enter(body);
    Result<void> done = convert_graph(body, depth + 1);
    types_.leave();
    return done;
  }

  Result<void> convert(const onnx::NodeProto& node, onnx::GraphProto& graph, Nodes& converted,
                       std::vector<bool>& flags) {
    std::vector<NodeInputType> inputs;
    for (const std::string& input : node.input()) inputs.push_back(types_.find(input));
    Result<ConvertedNode> result =
        convert_node(light_copy(node), inputs, from_, to_,
                     [this](std::string_view wanted) { return names_.fresh(wanted); });
    if (!result.ok()) {
      Error error = std::move(result).error();
      error.where = printable(node.name());
      return error;
    }
    std::vector<onnx::NodeProto>& parts = result.value().nodes;
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& p) { return p.op_type() == node.op_type(); });
    const std::size_t main =
        same != parts.end() ? static_cast<std::size_t>(same - parts.begin()) : parts.size() - 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      onnx::NodeProto part = i == main ? merge(node, parts[i]) : std::move(parts[i]);
      converted.Add()->Swap(&part);
      flags.push_back(true);
    }
    for (onnx::TensorProto& tensor : result.value().initializers) {
      graph.add_initializer()->Swap(&tensor);
      made_initializers_ = true;
    }
    return {};
  }

  bool is_own_function(const onnx::NodeProto& node) const {
    const auto& functions = base_.skeleton.functions();
    return std::any_of(functions.begin(), functions.end(), [&](const onnx::FunctionProto& function) {
      return function.name() == node.op_type() && canonical_domain(function.domain()).empty();
    });
  }

  // A function body has no types to convert by; it is raised with the model if that changes nothing in it.
  Result<void> raise_function(onnx::FunctionProto& function) const {
    for (auto& set : *function.mutable_opset_import()) {
      if (!canonical_domain(set.domain()).empty()) continue;
      for (const onnx::NodeProto& node : function.node()) {
        const bool standard = canonical_domain(node.domain()).empty();
        const bool same = operator_change(node.op_type(), set.version(), to_) == OperatorChange::kSame;
        if (!standard || (same && bodies(node).empty())) continue;
        return unsupported("The model's own function \"" + printable(function.name()) +
                               "\" uses the operator " + printable(node.op_type()) +
                               ", whose conversion inside functions isn't supported.",
                           printable(function.name()));
      }
      set.set_version(to_);
    }
    return {};
  }

  const ModelData& base_;
  std::int64_t from_;
  std::int64_t to_;
  UniqueNames names_;
  TypesInScope types_;
  std::vector<bool> converted_;  // by node of the new main graph
  bool made_initializers_ = false;
};

}  // namespace

Result<std::shared_ptr<const Model>> convert_opset(const ModelData& base, std::int64_t version) {
  const std::int64_t present = base.graph->opset();
  if (present <= 0)
    return unsupported("The model doesn't say which version of the operator set ai.onnx it uses.");
  if (version < present) {
    return unsupported("The model uses operator set " + std::to_string(present) + "; lowering it to " +
                       std::to_string(version) + " isn't supported.");
  }
  if (version > kNewestKnownOpset) {
    return unsupported("Operator set " + std::to_string(version) +
                       " is newer than the newest that models can be converted to (" +
                       std::to_string(kNewestKnownOpset) + ").");
  }
  return OpsetConverter(base, version).run();
}

}  // namespace halftone
