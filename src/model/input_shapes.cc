#include "halftone/input_shapes.h"

#include <algorithm>
#include <span>

#include "model/model_data.h"
#include "model/value_types.h"

namespace halftone {
namespace {

using Declarations = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text;
  for (const std::int64_t size : dims) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

Result<void> check(const Graph& graph, const std::string& name, std::span<const std::int64_t> dims) {
  const TensorId id = graph.find_tensor(name);
  if (id == kNone || !graph.tensor(id).graph_input) {
    return Error{ErrorCode::kInvalidPolicy, "The model has no input \"" + printable(name) + "\".",
                 printable(name), "Give shapes of the model's inputs."};
  }
  const auto& declared = graph.tensor(id).shape;
  bool fits = std::all_of(dims.begin(), dims.end(), [](std::int64_t size) { return size >= 0; });
  if (declared) {
    fits = fits && std::equal(declared->begin(), declared->end(), dims.begin(), dims.end(),
                              [](const Dimension& known, std::int64_t size) {
                                return known.value < 0 || known.value == size;
                              });
  }
  if (fits) return {};
  return Error{ErrorCode::kShapeMismatch,
               "The input \"" + printable(name) + "\" can't have the shape " + shape_text(dims) + ".",
               printable(name), "Use samples of the shape that the model declares."};
}

void forget_dimensions(Declarations& values) {
  for (onnx::ValueInfoProto& value : values) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) continue;
    for (auto& dimension : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      dimension.Clear();
  }
}

void declare(Declarations& inputs, const InputShapes& shapes) {
  std::unordered_map<std::string_view, const std::vector<std::int64_t>*> wanted;
  for (const auto& [name, dims] : shapes) wanted[name] = &dims;
  for (onnx::ValueInfoProto& input : inputs) {
    const auto found = wanted.find(input.name());
    if (found == wanted.end() || !input.type().has_tensor_type()) continue;
    onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const std::int64_t size : *found->second) shape.add_dim()->set_dim_value(size);
  }
}

}  // namespace

Result<std::shared_ptr<const Model>> with_input_shapes(const std::shared_ptr<const Model>& model,
                                                       const InputShapes& shapes) {
  if (shapes.empty()) return model;
  for (const auto& [name, dims] : shapes) {
    if (Result<void> fits = check(model->graph(), name, dims); !fits.ok()) return fits.error();
  }
  const ModelData& base = *model->data();
  auto data = std::make_shared<ModelData>();
  data->skeleton = base.skeleton;
  data->store = base.store;
  data->warnings = base.warnings;
  onnx::GraphProto& graph = *data->skeleton.mutable_graph();
  declare(*graph.mutable_input(), shapes);
  forget_dimensions(*graph.mutable_output());
  forget_dimensions(*graph.mutable_value_info());
  return finish_model(std::move(data));
}

}  // namespace halftone
