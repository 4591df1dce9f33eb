// One node as the ONNX library's inference functions see it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/inference_scope.h"
#include "model/onnx_library.h"

namespace halftone {

// Infers a body with the given input types (nullptr: not known) and returns its output types.
using BodyInference =
    std::function<std::vector<const onnx::TypeProto*>(const onnx::GraphProto&, const std::vector<const onnx::TypeProto*>&)>;

class NodeInferenceContext final : public onnx::InferenceContext {
 public:
  // Node, scope and everything that `infer_body` refers to must outlive the context.
  NodeInferenceContext(const onnx::NodeProto& node, const InferenceScope& scope, BodyInference infer_body);

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  std::size_t getNumInputs() const override;
  const onnx::TypeProto* getInputType(std::size_t index) const override;
  bool hasInput(std::size_t index) const override;
  const onnx::TensorProto* getInputData(std::size_t index) const override;
  std::size_t getNumOutputs() const override;
  onnx::TypeProto* getOutputType(std::size_t index) override;
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override;
  const onnx::SparseTensorProto* getInputSparseData(std::size_t index) const override;
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t index) const override;

 private:
  const onnx::NodeProto& node_;
  const InferenceScope& scope_;
  BodyInference infer_body_;
  std::vector<onnx::TypeProto> outputs_;
  std::vector<std::unique_ptr<onnx::GraphInferencer>> bodies_;
};

}  // namespace halftone
