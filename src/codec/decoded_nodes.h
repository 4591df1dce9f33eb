// Nodes ai.rt::Dequantize of encoded initializers, and who reads what they make.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/encode_weights.h"
#include "halftone/encoded_model.h"
#include "halftone/graph.h"

namespace halftone {

inline constexpr std::string_view kEncodedDomain = "ai.rt";

namespace codec {

struct DecodedNode {
  NodeId node = kNone;
  TensorId output = kNone;
  const EncodedInitializer* initializer = nullptr;
  DataType type = DataType::kUndefined;  // of the output
};

struct DecodedNodes {
  std::vector<DecodedNode> direct;  // of encoded initializers, in node order
  std::vector<LeftTensor> left;     // outputs of other Dequantize nodes
};

// Of the main graph.
DecodedNodes find_decoded_nodes(const Graph& graph, const EncodedModel& encoded);

// Whether all that reads a tensor of the main graph are nodes MatMul of the default set, as second input, and
// not with a vector as first.
bool read_by_matmul_only(const Graph& graph, const GraphTensor& tensor);

// The nodes that multiply by the transpose of a weight [N, K]: MatMul behind a Transpose, or Gemm.
struct TransposedReaders {
  std::vector<NodeId> transposes;  // between the weight and `multiplications`
  std::vector<NodeId> multiplications;
};
// nullopt if anything else reads it, or nothing.
std::optional<TransposedReaders> transposed_readers(const Graph& graph, const GraphTensor& weight);

}  // namespace codec
}  // namespace halftone
