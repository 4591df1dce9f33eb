// One node as the ONNX library's inference functions see it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/inference_scope.h"
#include "model/onnx_library.h"

namespace halftone {

// Infers a body with the given input types (nullptr: not known) and returns its output types.
using BodyInference = std::function<std::vector<const onnx::TypeProto*>(
    const onnx::GraphProto&, const std::vector<const onnx::TypeProto*>&)>;

// Types as inference functions may read them: each shape has empty dimensions behind its last one, allocated
// but not counted. Many of those functions index dimensions without looking at the rank; here they find one
// that isn't known instead of foreign memory. (protobuf keeps removed elements of a repeated field for reuse;
// a test holds it to that.)
class PaddedTypes {
 public:
  // Valid until the pool is reset to a mark from before.
  const onnx::TypeProto* add(const onnx::TypeProto& type);
  [[nodiscard]] std::size_t mark() const { return used_; }
  void reset(std::size_t mark) { used_ = mark; }

 private:
  std::deque<onnx::TypeProto> pool_;
  std::size_t used_ = 0;
};

class NodeInferenceContext final : public onnx::InferenceContext {
 public:
  // Node, scope, pool and everything that `infer_body` refers to must outlive the context.
  NodeInferenceContext(const onnx::NodeProto& node, const InferenceScope& scope, PaddedTypes& pool,
                       BodyInference infer_body);
  ~NodeInferenceContext() override;
  NodeInferenceContext(const NodeInferenceContext&) = delete;
  NodeInferenceContext& operator=(const NodeInferenceContext&) = delete;

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
  PaddedTypes& pool_;
  std::size_t mark_;
  BodyInference infer_body_;
  std::vector<const onnx::TypeProto*> inputs_;
  std::vector<onnx::TypeProto> outputs_;
  std::vector<std::unique_ptr<onnx::GraphInferencer>> bodies_;
};

}  // namespace halftone
