// Small pieces of the sentences in reasons, warnings and errors. Every name in them is safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "halftone/graph.h"
#include "halftone/result.h"

namespace halftone {

inline std::string quoted(std::string_view name) { return "\"" + printable(name) + "\""; }

// "1 node", "2 nodes"
inline std::string count_phrase(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// Conv "layer1/conv"
inline std::string node_phrase(const Graph& graph, NodeId id) {
  return printable(graph.node(id).op_type) + " " + quoted(graph.node_label(id));
}

}  // namespace halftone
