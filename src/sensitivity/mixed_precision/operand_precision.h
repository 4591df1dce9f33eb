// At which precision a node reads its operands, as a plan says.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"

namespace halftone {

struct Operand {
  int bits = 32;  // of a float
  bool quantized = false;
};

class OperandPrecision {
 public:
  // Keeps references to both.
  OperandPrecision(const Graph& graph, const Plan& plan);

  // Precondition: the node has such an input. On target aimet, where operators that only move values have no
  // quantizer of their own, what they pass on counts as quantized.
  [[nodiscard]] Operand of(NodeId node, std::int32_t input);

 private:
  [[nodiscard]] const Site* read_site(NodeId node, std::int32_t input) const;
  [[nodiscard]] Operand passed_on(TensorId tensor);

  const Graph& graph_;
  bool passes_on_;
  std::vector<const Site*> sites_;               // by tensor; nullptr where it isn't quantized
  std::unordered_map<TensorId, Operand> known_;  // of tensors that were passed on
};

}  // namespace halftone
