// ModelOpt's placement policy for TensorRT, from a graph to the node inputs that read a pair: its steps in
// its order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/tensorrt/exclusions.h"
#include "plan/tensorrt/marks.h"
#include "plan/tensorrt/node_choice.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/tensor_shapes.h"

namespace halftone::tensorrt {

struct PolicyOptions {
  Precision precision = Precision::kInt8;
  // For the deep learning accelerator, int8 only: no automatic exclusions, and every node is listed.
  bool dla = false;
  // By node; the nodes that the caller wants quantized in place of the policy (see choose_listed_nodes). Of
  // any operator: the handler table knows all.
  std::optional<std::vector<bool>> listed = std::nullopt;
  bool raw_excluded = false;            // excluded nodes, and with `listed` all others, read raw tensors only
  const Selection* patterns = nullptr;  // readings that they leave out are never marked
};

struct Policy {
  std::vector<Exclusion> exclusions;  // those found by rule, then those caused by a rule's name (see below)
  NodeChoice choice;
  Marks marks;
  std::vector<std::int32_t> scale_group;  // by tensor, -1: none; see get_concat_eliminated_tensors
};

// `excluded` (by node): what the caller excludes. Exclusions come first (attention, MatMul and Gemm, Conv),
// then the choice of nodes on the whole graph, the handler table, Concat groups, and last the edges that go
// back to the raw tensor. With Peer::kReproduce the names of excluded MatMul, Gemm and attention nodes act as
// regular expressions on all names, as in the peer (catalogue Q1), and each node caught that way is an
// Exclusion with the rule "name_of_excluded".
Policy apply_policy(const PolicyGraph& graph, const TensorShapes& shapes, const PolicyOptions& options,
                    std::vector<bool> excluded);

// The operators that may be quantized for `options`.
bool (*quantizable_operators(const PolicyOptions& options))(std::string_view);

}  // namespace halftone::tensorrt
