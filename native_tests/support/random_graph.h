// Float models that nobody thought of: random graphs of the operators that targets quantize, as data, so that
// the same graph can be written in another node order.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/model_builder.h"

namespace halftone::test {

struct RandomGraph {
  struct Tensor {
    std::string name;
    Dims dims;
  };
  // Float values, or int64 ones for shapes and splits.
  struct Constant {
    Tensor tensor;
    std::vector<float> floats;
    std::vector<std::int64_t> integers;
    bool in_node = false;  // a Constant node instead of an initializer
  };
  struct Node {
    std::string op;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::string name;  // may be empty
    std::vector<AttributeSetting> attributes;
  };

  std::uint32_t seed = 0;
  std::int64_t opset = 17;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Constant> constants;
  std::vector<Node> nodes;  // in a topological order

  [[nodiscard]] ModelBuilder builder() const;
};

// The same graph for the same seed, in every build. 1 to 25 nodes with static shapes: convolutions, MatMul
// and Gemm, pointwise operators, pooling, joining and reshaping; with residual branches, weights that several
// nodes share, weights in Constant nodes, nameless nodes, several outputs, and outputs that nodes read. It
// loads and runs in onnxruntime.
RandomGraph random_graph(std::uint32_t seed);

// The same nodes in another topological order.
RandomGraph shuffled(RandomGraph graph, std::mt19937& random);

}  // namespace halftone::test
