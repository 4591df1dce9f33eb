// ModelOpt's automatic exclusions: nodes that TensorRT runs faster in floating point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/number_format.h"
#include "plan/tensorrt/off_limits.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/tensor_shapes.h"

namespace halftone::tensorrt {

struct Exclusion {
  NodeId node = kNone;
  std::string rule;  // "gemv", "small_gemm", "small_convolution", "large_kernel", "long_attention",
                     // "attention_head_size", …
  std::string why;   // one sentence, with what would have to differ
};

enum class Precision : unsigned char { kInt8, kFloat8 };

// MatMul and Gemm whose product is a matrix times a vector, or with fewer than 16 columns or 16 terms.
std::vector<Exclusion> find_nodes_from_matmul_to_exclude(const PolicyGraph& graph,
                                                         const TensorShapes& shapes);

// Conv (never ConvTranspose) with few channels; for float8 also large kernels. A weight whose shape isn't
// known excludes.
std::vector<Exclusion> find_nodes_from_convs_to_exclude(const PolicyGraph& graph, Precision precision);

// Attentions (MatMul Softmax MatMul with scaling, masks and shape changes between) over long sequences, or
// for float8 with an unusual head size or a pattern that TensorRT doesn't fuse.
std::vector<Exclusion> find_nodes_from_mha_to_exclude(const PolicyGraph& graph, const TensorShapes& shapes,
                                                      Precision precision);

// The tensors whose shapes the functions above look at and that aren't fully known: products of MatMul and
// Gemm, their right operands, and the keys of attentions. Ascending, each once.
std::vector<TensorId> find_unknown_shapes(const PolicyGraph& graph, const TensorShapes& shapes);

}  // namespace halftone::tensorrt
