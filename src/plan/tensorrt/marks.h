// From chosen nodes to the node inputs that read a DequantizeLinear: the handler table of the peer's static
// quantizer, shared pairs, and the edges that are put back on the raw tensor afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/selection.h"
#include "plan/tensorrt/node_choice.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

enum class MarkKind : std::uint8_t { kNone, kActivation, kWeight };

struct Mark {
  MarkKind kind = MarkKind::kNone;
  std::int32_t axis = -1;  // of a weight: along which its scales lie; -1: one scale
  NodeId by = kNone;       // the node whose handler marked first
};

// Why a reading of a marked tensor stays raw.
enum class RawReason : std::uint8_t { kNone, kRawEdge, kSkipAlsoRaw, kExcludedNode };

// One node input.
struct Reading {
  Mark constant;                     // constants are marked for each reading by itself
  RawReason raw = RawReason::kNone;  // of a marked tensor
};

// One Reading for every input of every node.
class Readings {
 public:
  Readings() = default;  // of a graph without nodes
  explicit Readings(const Graph& graph);
  // Precondition: the node has such an input.
  [[nodiscard]] Reading& at(Use use) { return readings_[place(use)]; }
  [[nodiscard]] const Reading& at(Use use) const { return readings_[place(use)]; }

 private:
  [[nodiscard]] std::size_t place(Use use) const {
    return first_[static_cast<std::size_t>(use.node)] + static_cast<std::size_t>(use.input);
  }
  std::vector<std::size_t> first_;  // by node
  std::vector<Reading> readings_;
};

struct Marks {
  Marks() = default;
  explicit Marks(const Graph& graph) : tensors(graph.tensors().size()), readings(graph) {}

  std::vector<Mark> tensors;  // by tensor: activations (everybody who reads one reads the pair)
  Readings readings;
  std::vector<TensorId> unknown_types;  // would have been marked, but their type isn't known

  [[nodiscard]] bool quantized(const Graph& graph, Use use) const;
};

// Marks what the chosen nodes of quantizable operators read. What `patterns` leave out (by the name of a
// tensor) is never marked; nullptr: nothing.
Marks mark_inputs(const PolicyGraph& graph, const NodeChoice& choice,
                  bool (*quantizable)(std::string_view op_type), const Selection* patterns = nullptr);

// ModelOpt's remove_partial_input_qdq on `marks`: each edge's consumer reads the raw output 0 of the producer
// (its first input that reads that pair); then an Add's other inputs lose their pair too where their
// producer's tensor is read raw by decree already. Pairs that nobody reads afterwards are unmarked, unless
// the tensor is a graph output.
void remove_partial_input_qdq(const PolicyGraph& graph, const std::vector<RawEdge>& edges, Marks& marks);

// All readings of `nodes` (by node) become raw, those of constants too, and pairs that nobody reads then are
// unmarked (catalogue Q4, which the peer doesn't do).
void keep_raw(const PolicyGraph& graph, const std::vector<bool>& nodes, Marks& marks);

}  // namespace halftone::tensorrt
