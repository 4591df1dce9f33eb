// Types and shapes that follow from a model's inputs, constants and operators, by the ONNX library's rules,
// node by node.
//
// The library's own pass over a whole model is not used: one hostile node would take everything else with it
// (it has no limit on ranks, nesting or calls), it writes its findings into the model, and it can't stop at
// one node or start from one.
#pragma once

#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

// Fills types and shapes of `parts` (built from `model`), never overwriting what is declared. `only`: if not
// empty, one flag a node; only flagged nodes are inferred, from what `parts` already says about their inputs.
// Never fails; what went wrong comes back as at most one warning of each kind: "shape_inference_failed" (a
// node contradicts its operator or a declared type), "operator_unknown", "opset_newer_than_library" (inferred
// by the newest rules known).
std::vector<Warning> infer_types(const onnx::ModelProto& model, Graph::Parts& parts,
                                 const std::vector<bool>& only);

}  // namespace halftone
