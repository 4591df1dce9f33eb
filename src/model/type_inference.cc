#include "model/type_inference.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/extension_fields.h"
#include "model/graph_scopes.h"
#include "model/inference_context.h"
#include "model/inference_guards.h"
#include "model/inference_scope.h"
#include "model/onnx_library.h"
#include "model/quantize_types.h"
#include "model/reshaped_rank.h"
#include "model/value_types.h"

namespace halftone {
namespace {

// Bodies and function calls inside each other, together.
constexpr int kMaxDepth = 40;
// Nodes in bodies and called functions: a function that calls another twice, which calls a third twice, …
// grows without bound.
constexpr int kMaxInnerNodes = 500'000;
constexpr std::size_t kMaxNamedOperators = 5;

using Opsets = InferenceScope::Opsets;

template <typename Proto>
Opsets opsets_of(const Proto& proto) {
  Opsets opsets;
  for (const auto& set : proto.opset_import())
    opsets[std::string(canonical_domain(set.domain()))] = set.version();
  return opsets;
}

std::string function_key(std::string_view domain, std::string_view name, std::string_view overload) {
  std::string key(canonical_domain(domain));
  return key.append("\n").append(name).append("\n").append(overload);
}

// Operators whose result's type doesn't depend on the types of all their inputs.
bool infers_without_inputs(std::string_view op) {
  constexpr std::string_view kOps[] = {"Cast",    "Shape",         "Size",        "ConstantOfShape",
                                       "ArgMax",  "ArgMin",        "NonZero",     "Equal",
                                       "Greater", "Less",          "Not",         "And",
                                       "Or",      "IsNaN",         "If",          "Loop",
                                       "Scan",    "RandomUniform", "RandomNormal"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

class TypeInference {
 public:
  explicit TypeInference(const onnx::ModelProto& model) : model_(model), opsets_(opsets_of(model)) {
    for (const onnx::FunctionProto& function : model.functions()) {
      functions_.emplace(function_key(function.domain(), function.name(), function.overload()), &function);
    }
    for (const FieldReference& encoded : encoded_initializers(model.graph()))
      logical_types_.emplace(encoded.name, encoded.logical_type);
  }

  void infer_all(Graph::Parts& parts) {
    InferenceScope scope(opsets_, nullptr);
    const onnx::GraphProto& graph = model_.graph();
    for (const GraphTensor& tensor : parts.tensors) seed(scope, tensor);
    add_declared(graph, scope, /*tensors=*/false);
    for (const onnx::TensorProto& tensor : graph.initializer()) scope.set_constant(tensor.name(), tensor);
    for (const NodeId id : parts.order) infer_node(graph.node(id), scope, 0);
    for (GraphTensor& tensor : parts.tensors) store_type(scope, tensor);
  }

  // Only nodes that an edit added. They own no bodies, so they need to know no more than their own inputs.
  void infer_some(Graph::Parts& parts, const std::vector<bool>& only) {
    InferenceScope scope(opsets_, nullptr);
    const onnx::GraphProto& graph = model_.graph();
    const auto tensor = [&](TensorId id) -> GraphTensor& {
      return parts.tensors[static_cast<std::size_t>(id)];
    };
    std::unordered_set<std::string_view> read;
    for (const NodeId id : parts.order) {
      if (!only[static_cast<std::size_t>(id)]) continue;
      for (const TensorId input : parts.nodes[static_cast<std::size_t>(id)].inputs) {
        if (input != kNone && read.insert(tensor(input).name).second) seed(scope, tensor(input));
      }
    }
    for (const onnx::TensorProto& constant : graph.initializer()) {
      if (read.contains(constant.name())) scope.set_constant(constant.name(), constant);
    }
    for (const NodeId id : parts.order) {
      if (!only[static_cast<std::size_t>(id)]) continue;
      infer_node(graph.node(id), scope, 0);
      for (const TensorId output : parts.nodes[static_cast<std::size_t>(id)].outputs) {
        if (output != kNone) store_type(scope, tensor(output));
      }
    }
  }

  std::vector<Warning> warnings() const {
    std::vector<Warning> found;
    add_version_warning(found);
    if (!unknown_.empty()) found.push_back(unknown_warning());
    if (failures_ > 0) found.push_back(failure_warning());
    return found;
  }

 private:
  // --- one graph
  // -----------------------------------------------------------------------------------------------------------

  static void add_declared(const onnx::GraphProto& graph, InferenceScope& scope, bool tensors) {
    const auto add = [&](const auto& infos) {
      for (const onnx::ValueInfoProto& info : infos) {
        if (tensors || !info.type().has_tensor_type()) scope.add_type(info.name(), info.type());
      }
    };
    add(graph.input());
    add(graph.output());
    add(graph.value_info());
  }

  static void seed(InferenceScope& scope, const GraphTensor& tensor) {
    if (tensor.type != DataType::kUndefined)
      scope.add_type(tensor.name, type_proto(tensor.type, tensor.shape));
  }

  static void store_type(const InferenceScope& scope, GraphTensor& tensor) {
    const onnx::TypeProto* type = scope.type(tensor.name);
    if (type == nullptr) return;
    ValueType known{tensor.type, std::move(tensor.shape)};
    merge_value_type(known, value_type(*type));
    tensor.type = known.type;
    tensor.shape = std::move(known.shape);
  }

  std::vector<const onnx::TypeProto*> infer_body(const onnx::GraphProto& body,
                                                 const std::vector<const onnx::TypeProto*>& inputs,
                                                 const InferenceScope& outer, int depth) {
    InferenceScope scope(outer.opsets(), &outer);
    for (int i = 0; i < body.input_size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (index < inputs.size() && inputs[index] != nullptr)
        scope.add_type(body.input(i).name(), *inputs[index]);
    }
    add_declared(body, scope, /*tensors=*/true);
    for (const onnx::TensorProto& tensor : body.initializer()) {
      const ValueType own = value_type(tensor);
      if (own.type != DataType::kUndefined) scope.add_type(tensor.name(), type_proto(own.type, own.shape));
      scope.set_constant(tensor.name(), tensor);
    }
    for (const onnx::NodeProto& node : body.node()) infer_node(node, scope, depth);
    std::vector<const onnx::TypeProto*> results;
    for (const onnx::ValueInfoProto& output : body.output()) {
      const onnx::TypeProto* type = scope.type(output.name());
      results_.push_back(type != nullptr ? *type : onnx::TypeProto());
      results.push_back(&results_.back());
    }
    return results;
  }

  // --- one node
  // ------------------------------------------------------------------------------------------------------------

  void infer_node(const onnx::NodeProto& node, InferenceScope& scope, int depth) {
    if (depth > 0 && ++inner_nodes_ > kMaxInnerNodes)
      return fail(node, "is in bodies or functions that are called too often");
    if (depth > kMaxDepth) return fail(node, "is in bodies or functions that are nested too deep");
    note_constant(node, scope);
    if (const auto type = quantize_output_type(node, scope)) return record(node, 0, *type, scope);
    const std::string_view domain = canonical_domain(node.domain());
    if (makes_encoded_value(node)) return;
    if (reads_encoded_value(node)) return infer_decoded(node, scope);
    if (const onnx::FunctionProto* function = find_function(node)) return call(node, *function, scope, depth);
    const auto version = scope.opsets().find(std::string(domain));
    const onnx::OpSchema* schema =
        version == scope.opsets().end() ? nullptr : find_schema(node.op_type(), domain, version->second);
    if (schema == nullptr) return note_unknown(domain, node);
    const bool newer = version->second > newest_version(domain);
    infer_known(node, *schema, newer, scope, depth);
  }

  void infer_decoded(const onnx::NodeProto& node, InferenceScope& scope) {
    const auto logical = logical_types_.find(node.input(0));
    const auto type =
        decoded_type(node, logical == logical_types_.end() ? std::string_view() : logical->second);
    if (type) record(node, 0, *type, scope);
  }

  void infer_known(const onnx::NodeProto& node, const onnx::OpSchema& schema, bool newer,
                   InferenceScope& scope, int depth) {
    if (misses_input_type(node, scope) && !infers_without_inputs(node.op_type())) return;
    NodeInferenceContext context(node, scope, padded_,
                                 [this, &scope, depth](const auto& body, const auto& inputs) {
                                   return infer_body(body, inputs, scope, depth + 1);
                                 });
    try {
      schema.Verify(node);
      if (!accepts_input_kinds(schema, context)) return fail(node, "reads something that isn't a tensor");
      if (const auto problem = unsafe_to_infer(node, context)) return fail(node, *problem);
      if (schema.has_type_and_shape_inference_function()) {
        schema.GetTypeAndShapeInferenceFunction()(context);
      } else if (schema.HasFunction()) {
        onnx::shape_inference::InferShapeForFunctionNode(*schema.GetFunction(),
                                                         onnx::OpSchemaRegistry::Instance(), context);
      }
      for (int i = 0; i < node.output_size(); ++i) {
        record(node, i, *context.getOutputType(static_cast<std::size_t>(i)), scope);
      }
      if (const auto type = reshaped_rank(node, scope)) record(node, 0, *type, scope);
    } catch (const std::exception& error) {
      // What a newer operator set allows, the rules known here may not.
      if (newer) return note_unknown(canonical_domain(node.domain()), node);
      fail(node, "doesn't fit its operator (" + library_message(error.what()) + ")");
    } catch (...) {
      fail(node, "doesn't fit its operator");
    }
  }

  static bool misses_input_type(const onnx::NodeProto& node, const InferenceScope& scope) {
    return std::any_of(node.input().begin(), node.input().end(), [&](const std::string& input) {
      return !input.empty() && scope.type(input) == nullptr;
    });
  }

  // Inference functions for tensors read a sequence or a map as a tensor without a shape, and its dimensions
  // without looking.
  static bool accepts_input_kinds(const onnx::OpSchema& schema, const NodeInferenceContext& context) {
    for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
      const onnx::TypeProto* type = context.getInputType(i);
      if (type == nullptr || type->has_tensor_type()) continue;
      if (schema.inputs().empty()) return false;
      const auto& formal = schema.inputs()[std::min(i, schema.inputs().size() - 1)];
      if (!formal.GetTypes().contains(onnx::Utils::DataTypeUtils::ToType(*type))) return false;
    }
    return true;
  }

  void record(const onnx::NodeProto& node, int output, const onnx::TypeProto& type, InferenceScope& scope) {
    if (node.output(output).empty() || scope.add_type(node.output(output), type)) return;
    fail(node, "makes \"" + printable(node.output(output)) +
                   "\" with another type or shape than the file declares");
  }

  static void note_constant(const onnx::NodeProto& node, InferenceScope& scope) {
    if (node.op_type() != "Constant" || node.output_size() != 1 || !canonical_domain(node.domain()).empty())
      return;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == "value" && attribute.has_t()) scope.set_constant(node.output(0), attribute.t());
      if (attribute.name() != "value_ints" && attribute.name() != "value_int") continue;
      onnx::TensorProto tensor;
      tensor.set_data_type(onnx::TensorProto::INT64);
      if (attribute.name() == "value_int") {
        tensor.add_int64_data(attribute.i());
      } else {
        tensor.add_dims(attribute.ints_size());
        *tensor.mutable_int64_data() = attribute.ints();
      }
      scope.set_constant(node.output(0), std::move(tensor));
    }
  }

  // --- the model's own functions
  // -------------------------------------------------------------------------------------------

  const onnx::FunctionProto* find_function(const onnx::NodeProto& node) const {
    if (functions_.empty()) return nullptr;
    const auto place = functions_.find(function_key(node.domain(), node.op_type(), node.overload()));
    return place == functions_.end() ? nullptr : place->second;
  }

  void call(const onnx::NodeProto& node, const onnx::FunctionProto& function, InferenceScope& scope,
            int depth) {
    const Opsets opsets = opsets_of(function);
    std::deque<onnx::NodeProto>
        nodes;  // copies with the caller's attributes in place; names in `inner` are views of them
    InferenceScope inner(opsets, nullptr);
    for (int i = 0; i < function.input_size() && i < node.input_size(); ++i) {
      if (const onnx::TypeProto* type = scope.type(node.input(i))) inner.add_type(function.input(i), *type);
      if (const onnx::TensorProto* value = scope.constant(node.input(i)))
        inner.set_constant(function.input(i), *value);
    }
    std::unordered_map<std::string, const onnx::AttributeProto*> attributes;
    for (const onnx::AttributeProto& standard : function.attribute_proto())
      attributes[standard.name()] = &standard;
    for (const onnx::AttributeProto& given : node.attribute()) attributes[given.name()] = &given;
    onnx::internal::AttributeBinder binder(attributes);
    for (const onnx::NodeProto& original : function.node()) {
      if (inner_nodes_ > kMaxInnerNodes || depth > kMaxDepth) break;
      nodes.push_back(original);
      binder.VisitNode(&nodes.back());
      infer_node(nodes.back(), inner, depth + 1);
    }
    for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
      if (const onnx::TypeProto* type = inner.type(function.output(i))) record(node, i, *type, scope);
    }
  }

  // --- what to tell
  // --------------------------------------------------------------------------------------------------------

  void fail(const onnx::NodeProto& node, const std::string& what) {
    if (failures_++ > 0) return;
    first_failure_ = "node " + describe_node(node) + " " + what;
    failed_node_ = printable(node.name());
  }

  void note_unknown(std::string_view domain, const onnx::NodeProto& node) {
    const std::string name = domain.empty() ? node.op_type() : std::string(domain) + "." + node.op_type();
    ++unknown_[printable(name)];
  }

  void add_version_warning(std::vector<Warning>& found) const {
    for (const auto& [domain, version] : opsets_) {
      const std::int64_t newest = newest_version(domain);
      if (newest == 0 || version <= newest) continue;
      found.push_back({"opset_newer_than_library",
                       "The model uses version " + std::to_string(version) + " of the operator set " +
                           (domain.empty() ? "ai.onnx" : printable(domain)) +
                           "; types and shapes were inferred by version " + std::to_string(newest) +
                           ", and the model was not checked against its operators' rules.",
                       ""});
    }
  }

  Warning unknown_warning() const {
    std::string names;
    std::size_t named = 0;
    for (const auto& [name, count] : unknown_) {
      if (named++ == kMaxNamedOperators) {
        names += " and " + std::to_string(unknown_.size() - kMaxNamedOperators) + " more";
        break;
      }
      names += (names.empty() ? "" : ", ") + name + " (" + std::to_string(count) + ")";
    }
    return {"operator_unknown", "Types and shapes behind these operators are not known: " + names + ".", ""};
  }

  Warning failure_warning() const {
    std::string message = "Types and shapes could not be inferred everywhere: " + first_failure_;
    if (failures_ > 1) message += ", and " + std::to_string(failures_ - 1) + " more nodes";
    return {"shape_inference_failed", message + ".", failed_node_};
  }

  const onnx::ModelProto& model_;
  Opsets opsets_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  std::unordered_map<std::string_view, std::string_view>
      logical_types_;                    // of encoded initializers of the main graph, by name
  std::deque<onnx::TypeProto> results_;  // output types of bodies: the library keeps pointers to them
  PaddedTypes padded_;
  int inner_nodes_ = 0;
  std::int64_t failures_ = 0;
  std::string first_failure_;
  std::string failed_node_;
  std::map<std::string, std::int64_t> unknown_;
};

}  // namespace

std::vector<Warning> infer_types(const onnx::ModelProto& model, Graph::Parts& parts,
                                 const std::vector<bool>& only) {
  register_operators();
  TypeInference inference(model);
  if (only.empty()) {
    inference.infer_all(parts);
  } else {
    inference.infer_some(parts, only);
  }
  return inference.warnings();
}

}  // namespace halftone
