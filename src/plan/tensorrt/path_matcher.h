// ModelOpt's has_path_type: does a chain of operators of given kinds lead away from a node?
//
// A path is a list of labels. A label matches a node of that operator type, and BiasAdd an Add with a
// constant input, ConstMul a Mul with one, NonBiasAdd an Add without one. BiasAdd and ConstMul are optional.
// An operator on the wildcard list may stand anywhere (and, as in the peer, uses up an optional label that it
// stands on). Results are remembered per (node, place in the path), so any number of questions over one graph
// cost O(labels * edges) in all; nothing recurses, so a chain may be as long as memory allows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

enum class Direction : std::uint8_t { kForward, kBackward };

class PathMatcher {
 public:
  // Views must outlive the matcher (they are literals). `wildcards` empty: none.
  PathMatcher(const PolicyGraph& graph, std::vector<std::string_view> path, Direction direction,
              std::vector<std::string_view> wildcards = {});

  // Whether the path starts at `node` (which is the first to be matched).
  [[nodiscard]] bool matches(NodeId node);
  // The same; on success the nodes that stood for labels (not the wildcards), in path order, are appended to
  // `found`.
  bool match_nodes(NodeId node, std::vector<NodeId>& found);

 private:
  enum class Known : std::uint8_t { kNo = 1, kYes = 2 };
  struct Step {
    bool fails = false;
    bool recorded = false;  // the node stood for a label
    // It was a variable Add on NonBiasAdd: its siblings then see the label Add, as in the peer.
    bool widens = false;
    std::size_t next_place = 0;  // where its neighbours go on
  };
  struct Frame {
    NodeId node = kNone;
    std::size_t place = 0;
    bool widened = false;  // the label at `place` was turned into Add by an earlier sibling
    bool recorded = false;
    std::size_t next_place = 0;
    bool next_widened = false;
    std::size_t neighbour = 0;  // the next one to try
  };

  [[nodiscard]] Step step(NodeId node, std::size_t place, bool widened) const;
  bool walk(NodeId node, std::vector<NodeId>* found);
  [[nodiscard]] std::size_t key(NodeId node, std::size_t place, bool widened) const;

  const PolicyGraph& graph_;
  std::vector<std::string_view> path_;
  Direction direction_;
  std::vector<std::string_view> wildcards_;
  std::size_t states_ = 1;           // of a label: 2 where one of them can be widened
  std::vector<std::uint8_t> known_;  // by key(), made at the first question; 0: not known
  std::vector<Frame> stack_;         // of the running walk, kept for the next one
};

// The labels of ModelOpt's copy operators, which most of its backward paths look through.
std::vector<std::string_view> copy_operators();

}  // namespace halftone::tensorrt
