// A quantized graph seen without its Q/DQ nodes, for comparison with the graph that it was made from.
#pragma once

#include <string>
#include <vector>

#include "halftone/model.h"

namespace halftone::test {

struct PlainNode {
  std::string op;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;  // "" where omitted
  std::vector<std::string> outputs;
  std::string attributes;  // all that the random graphs use, as text
  friend bool operator==(const PlainNode&, const PlainNode&) = default;
};

std::string text_of(const PlainNode& node);

// The nodes of `original` in file order, without those that only make constants (their readers may have been
// given codes instead).
std::vector<PlainNode> plain_nodes(const Graph& original);

// The nodes of `quantized` without its Q/DQ nodes, in the names of `original`: what reads a DequantizeLinear
// reads the tensor that was quantized. Fails the running test if a QuantizeLinear isn't read by a
// DequantizeLinear, or a DequantizeLinear by nobody, or if stored codes aren't those of the float constant
// that they stand for: code * scale has to be within half a step of it.
std::vector<PlainNode> nodes_without_qdq(const Model& quantized, const Model& original);

}  // namespace halftone::test
