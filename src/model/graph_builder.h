// Builds the graph index (Graph::Parts) from a skeleton. Linear in nodes and edges.
//
// Tensor ids follow the order of sites: graph inputs, then for each node in file order its inputs, what its
// bodies read, its outputs; each tensor at its first appearance; then graph outputs and initializers that no
// node touches. Types and shapes are the declared ones; type_inference.h adds what follows from them,
// constant_index.h what is constant. Attribute values are views into the skeleton, which must stay where it
// is and unchanged as long as the Graph lives.
#pragma once

#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

struct BuiltGraph {
  Graph::Parts parts;
  bool in_file_order = true;
  std::vector<Warning> warnings;  // nodes_out_of_order, duplicate_graph_output
};

// Errors: kInvalidGraph if there is no graph, and those of resolve_scopes().
Result<BuiltGraph> build_graph(const onnx::ModelProto& model);

}  // namespace halftone
