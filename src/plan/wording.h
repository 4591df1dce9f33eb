// Small pieces of the sentences in reasons, warnings and errors. Every name in them is safe to print.
#pragma once

#include <string>
#include <string_view>

#include "halftone/graph.h"
#include "halftone/result.h"

namespace halftone {

inline std::string quoted(std::string_view name) { return "\"" + printable(name) + "\""; }

// Conv "layer1/conv"
inline std::string node_phrase(const Graph& graph, NodeId id) {
  return printable(graph.node(id).op_type) + " " + quoted(graph.node_label(id));
}

}  // namespace halftone
