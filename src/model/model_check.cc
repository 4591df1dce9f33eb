// Checking through the door: see onnx_door.h.
#include <algorithm>
#include <exception>
#include <iterator>
#include <string_view>

#include "model/extension_fields.h"
#include "model/graph_scopes.h"
#include "model/onnx_door.h"
#include "model/onnx_library.h"

namespace halftone {
namespace {

// The checker prints a line to the standard output when it meets one of these.
bool is_experimental(const onnx::NodeProto& node) {
  constexpr std::string_view kOperators[] = {"ATen",
                                             "Affine",
                                             "ConstantFill",
                                             "Crop",
                                             "DynamicSlice",
                                             "GRUUnit",
                                             "GivenTensorFill",
                                             "ImageScaler",
                                             "ParametricSoftplus",
                                             "Scale",
                                             "ScaledTanh"};
  return canonical_domain(node.domain()).empty() &&
         std::find(std::begin(kOperators), std::end(kOperators), node.op_type()) != std::end(kOperators);
}

// A copy of the model that the checker can read: bulk tensors have no elements, sparse ones no values, and
// "ai.onnx" is spelled
// "" as in the checker's tables. Notes on the way what the checker can't know.
class CheckableCopy {
 public:
  explicit CheckableCopy(const onnx::ModelProto& model) : model_(model) {
    for (auto& set : *model_.mutable_opset_import())
      set.set_domain(std::string(canonical_domain(set.domain())));
    prepare(*model_.mutable_graph());
    for (auto& function : *model_.mutable_functions()) {
      for (auto& set : *function.mutable_opset_import())
        set.set_domain(std::string(canonical_domain(set.domain())));
      for (auto& node : *function.mutable_node()) prepare(node);
    }
    if (model_.ir_version() > kNewestKnownIrVersion) model_.set_ir_version(kNewestKnownIrVersion);
  }

  [[nodiscard]] const onnx::ModelProto& model() const { return model_; }
  [[nodiscard]] bool has_experimental() const { return has_experimental_; }
  [[nodiscard]] std::int32_t newest_type() const { return newest_type_; }

 private:
  // Recursion is bounded by kMaxSubgraphDepth in graphs, and in functions by the depth at which the loader
  // stops reading.
  void prepare(onnx::GraphProto& graph) {
    for (auto& tensor : *graph.mutable_initializer()) prepare(tensor);
    for (auto& tensor : *graph.mutable_sparse_initializer()) prepare(tensor);
    for (const FieldReference& encoded : encoded_initializers(graph)) {
      if (!encoded.name.empty()) stand_in(graph, encoded.name);
    }
    for (auto& node : *graph.mutable_node()) prepare(node);
    for (auto& info : *graph.mutable_input()) prepare(info);
    for (auto& info : *graph.mutable_output()) prepare(info);
  }

  // The checker doesn't know that an encoded initializer gives its name a value.
  static void stand_in(onnx::GraphProto& graph, std::string_view name) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(std::string(name));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(0);
  }

  void prepare(onnx::NodeProto& node) {
    has_experimental_ = has_experimental_ || is_experimental(node);
    node.set_domain(std::string(canonical_domain(node.domain())));
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) prepare(*attribute.mutable_t());
      if (attribute.has_sparse_tensor()) prepare(*attribute.mutable_sparse_tensor());
      if (attribute.has_g()) prepare(*attribute.mutable_g());
      for (auto& tensor : *attribute.mutable_tensors()) prepare(tensor);
      for (auto& tensor : *attribute.mutable_sparse_tensors()) prepare(tensor);
      for (auto& graph : *attribute.mutable_graphs()) prepare(graph);
    }
  }

  // Runtimes take inputs and outputs without a shape, and outputs without a type; the checker's objection
  // would hide others.
  void prepare(onnx::ValueInfoProto& info) {
    const bool encoded =
        info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET && !info.type().unknown_fields().empty();
    if (!info.has_type() || encoded)
      info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    if (!info.type().has_tensor_type()) return;
    note_type(info.type().tensor_type().elem_type());
    info.mutable_type()->mutable_tensor_type()->mutable_shape();
  }

  void prepare(onnx::TensorProto& tensor) {
    note_type(tensor.data_type());
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.clear_dims();
    tensor.add_dims(0);
  }

  void prepare(onnx::SparseTensorProto& sparse) {
    onnx::TensorProto& values = *sparse.mutable_values();
    note_type(values.data_type());
    const std::string name = values.name();
    const std::int32_t type = values.data_type();
    values.Clear();
    values.set_name(name);
    values.set_data_type(type);
    values.add_dims(0);
    sparse.clear_indices();
    sparse.clear_dims();
    sparse.add_dims(1);
  }

  void note_type(std::int32_t type) { newest_type_ = std::max(newest_type_, type); }

  onnx::ModelProto model_;
  bool has_experimental_ = false;
  std::int32_t newest_type_ = 0;
};

bool imports_newer_opset(const onnx::ModelProto& model) {
  return std::any_of(model.opset_import().begin(), model.opset_import().end(), [](const auto& set) {
    const std::int64_t newest = newest_version(canonical_domain(set.domain()));
    return newest != 0 && set.version() > newest;
  });
}

}  // namespace

std::vector<Warning> check_with_library(const onnx::ModelProto& model) {
  register_operators();
  std::vector<Warning> warnings;
  if (model.ir_version() > kNewestKnownIrVersion) {
    warnings.push_back({"ir_version_newer_than_library",
                        "The model's IR version " + std::to_string(model.ir_version()) +
                            " is newer than the ONNX library here knows; it was read as version " +
                            std::to_string(kNewestKnownIrVersion) + ".",
                        ""});
  }
  if (imports_newer_opset(model)) return warnings;  // said by infer_types()
  const CheckableCopy copy(model);
  if (copy.newest_type() > kNewestKnownType) {
    warnings.push_back({"type_newer_than_library",
                        "The model holds tensors of type " +
                            data_type_name(static_cast<DataType>(copy.newest_type())) +
                            ", which the ONNX library here doesn't know; the model was not checked.",
                        ""});
    return warnings;
  }
  if (copy.has_experimental()) {
    warnings.push_back(
        {"operator_unknown", "The model uses experimental operators of early ONNX; it was not checked.", ""});
    return warnings;
  }
  try {
    onnx::checker::check_model(copy.model());
  } catch (const std::exception& error) {
    warnings.push_back({"checker_failed", "The ONNX checker objects: " + library_message(error.what()), ""});
  } catch (...) {
    warnings.push_back({"checker_failed", "The ONNX checker failed without saying why.", ""});
  }
  return warnings;
}

}  // namespace halftone
