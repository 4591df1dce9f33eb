#include "model/inference_context.h"

#include <stdexcept>
#include <utility>

#include "model/value_types.h"

namespace halftone {
namespace {

// Only variadic operators have more, and those compare ranks before they index; a million padded shapes would
// fill the memory.
constexpr std::size_t kMaxPaddedInputs = 64;

class BodyInferencer final : public onnx::GraphInferencer {
 public:
  BodyInferencer(const onnx::GraphProto& body, const BodyInference& infer) : body_(body), infer_(infer) {}

  std::vector<const onnx::TypeProto*> doInferencing(
      const std::vector<const onnx::TypeProto*>& inputs,
      const std::vector<const onnx::TensorProto*>& /*data*/) override {
    return infer_(body_, inputs);
  }

 private:
  const onnx::GraphProto& body_;
  const BodyInference& infer_;
};

}  // namespace

const onnx::TypeProto* PaddedTypes::add(const onnx::TypeProto& type) {
  if (used_ == pool_.size()) {
    onnx::TensorShapeProto& shape = *pool_.emplace_back().mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < 2 * kMaxRank; ++i) shape.add_dim();
    shape.clear_dim();
  }
  // Clearing or copying the message as a whole would free what it keeps.
  onnx::TypeProto::Tensor& tensor = *pool_[used_++].mutable_tensor_type();
  tensor.clear_elem_type();
  tensor.mutable_shape()->clear_dim();
  if (type.tensor_type().has_elem_type()) tensor.set_elem_type(type.tensor_type().elem_type());
  for (const auto& dim : type.tensor_type().shape().dim()) *tensor.mutable_shape()->add_dim() = dim;
  if (!type.tensor_type().has_shape()) tensor.clear_shape();
  return &pool_[used_ - 1];
}

NodeInferenceContext::NodeInferenceContext(const onnx::NodeProto& node, const InferenceScope& scope,
                                           PaddedTypes& pool, BodyInference infer_body)
    : node_(node),
      scope_(scope),
      pool_(pool),
      mark_(pool.mark()),
      infer_body_(std::move(infer_body)),
      outputs_(static_cast<std::size_t>(node.output_size())) {
  for (const std::string& input : node.input()) {
    const onnx::TypeProto* type = input.empty() ? nullptr : scope.type(input);
    const bool pad = type != nullptr && type->has_tensor_type() && inputs_.size() < kMaxPaddedInputs;
    inputs_.push_back(pad ? pool_.add(*type) : type);
  }
}

NodeInferenceContext::~NodeInferenceContext() { pool_.reset(mark_); }

const onnx::AttributeProto* NodeInferenceContext::getAttribute(const std::string& name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::size_t NodeInferenceContext::getNumInputs() const {
  return static_cast<std::size_t>(node_.input_size());
}

bool NodeInferenceContext::hasInput(std::size_t index) const {
  return index < getNumInputs() && !node_.input(static_cast<int>(index)).empty();
}

// Inference functions dereference what they get for inputs that the schema demands; the exception is caught
// at the node.
const onnx::TypeProto* NodeInferenceContext::getInputType(std::size_t index) const {
  if (index >= getNumInputs()) throw std::out_of_range("it has too few inputs");
  return inputs_[index];
}

const onnx::TensorProto* NodeInferenceContext::getInputData(std::size_t index) const {
  return hasInput(index) ? scope_.constant(node_.input(static_cast<int>(index))) : nullptr;
}

std::size_t NodeInferenceContext::getNumOutputs() const { return outputs_.size(); }

onnx::TypeProto* NodeInferenceContext::getOutputType(std::size_t index) {
  if (index >= outputs_.size()) throw std::out_of_range("it has too few outputs");
  return &outputs_[index];
}

onnx::GraphInferencer* NodeInferenceContext::getGraphAttributeInferencer(const std::string& name) {
  const onnx::AttributeProto* attribute = getAttribute(name);
  if (attribute == nullptr || !attribute->has_g())
    throw std::invalid_argument("its attribute " + name + " is no graph");
  bodies_.push_back(std::make_unique<BodyInferencer>(attribute->g(), infer_body_));
  return bodies_.back().get();
}

const onnx::SparseTensorProto* NodeInferenceContext::getInputSparseData(std::size_t /*index*/) const {
  return nullptr;
}

const onnx::TensorShapeProto* NodeInferenceContext::getSymbolicInput(std::size_t /*index*/) const {
  return nullptr;
}

}  // namespace halftone
