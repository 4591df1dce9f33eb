#include "model/inference_context.h"

#include <stdexcept>
#include <utility>

namespace halftone {
namespace {

class BodyInferencer final : public onnx::GraphInferencer {
 public:
  BodyInferencer(const onnx::GraphProto& body, const BodyInference& infer) : body_(body), infer_(infer) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& inputs,
                                                    const std::vector<const onnx::TensorProto*>& /*data*/) override {
    return infer_(body_, inputs);
  }

 private:
  const onnx::GraphProto& body_;
  const BodyInference& infer_;
};

}  // namespace

NodeInferenceContext::NodeInferenceContext(const onnx::NodeProto& node, const InferenceScope& scope, BodyInference infer_body)
    : node_(node), scope_(scope), infer_body_(std::move(infer_body)), outputs_(static_cast<std::size_t>(node.output_size())) {}

const onnx::AttributeProto* NodeInferenceContext::getAttribute(const std::string& name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::size_t NodeInferenceContext::getNumInputs() const { return static_cast<std::size_t>(node_.input_size()); }

bool NodeInferenceContext::hasInput(std::size_t index) const {
  return index < getNumInputs() && !node_.input(static_cast<int>(index)).empty();
}

// Inference functions dereference what they get for inputs that the schema demands; the exception is caught at the node.
const onnx::TypeProto* NodeInferenceContext::getInputType(std::size_t index) const {
  if (index >= getNumInputs()) throw std::out_of_range("it has too few inputs");
  return hasInput(index) ? scope_.type(node_.input(static_cast<int>(index))) : nullptr;
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
  if (attribute == nullptr || !attribute->has_g()) throw std::invalid_argument("its attribute " + name + " is no graph");
  bodies_.push_back(std::make_unique<BodyInferencer>(attribute->g(), infer_body_));
  return bodies_.back().get();
}

const onnx::SparseTensorProto* NodeInferenceContext::getInputSparseData(std::size_t /*index*/) const { return nullptr; }

const onnx::TensorShapeProto* NodeInferenceContext::getSymbolicInput(std::size_t /*index*/) const { return nullptr; }

}  // namespace halftone
