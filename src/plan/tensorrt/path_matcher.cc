#include "plan/tensorrt/path_matcher.h"

#include <algorithm>
#include <span>
#include <utility>

namespace halftone::tensorrt {
namespace {

constexpr std::string_view kBiasAdd = "BiasAdd";
constexpr std::string_view kConstMul = "ConstMul";
constexpr std::string_view kNonBiasAdd = "NonBiasAdd";

bool is_optional(std::string_view label) { return label == kBiasAdd || label == kConstMul; }

}  // namespace

PathMatcher::PathMatcher(const PolicyGraph& graph, std::vector<std::string_view> path, Direction direction,
                         std::vector<std::string_view> wildcards)
    : graph_(graph), path_(std::move(path)), direction_(direction), wildcards_(std::move(wildcards)) {
  const bool widens = std::find(path_.begin(), path_.end(), kNonBiasAdd) != path_.end();
  states_ = widens ? 2 : 1;
}

std::size_t PathMatcher::key(NodeId node, std::size_t place, bool widened) const {
  return (static_cast<std::size_t>(node) * path_.size() + place) * states_ + (widened ? 1 : 0);
}

PathMatcher::Step PathMatcher::step(NodeId id, std::size_t place, bool widened) const {
  const GraphNode& node = graph_.graph().node(id);
  const std::string_view op =
      node.domain.empty() ? std::string_view(node.op_type) : std::string_view("custom");
  const bool constant = (op == "Add" || op == "Mul") && graph_.has_const_input(id);
  const std::string_view kind = !constant ? op : op == "Add" ? kBiasAdd : kConstMul;
  const bool wild = std::find(wildcards_.begin(), wildcards_.end(), kind) != wildcards_.end();
  const std::size_t first_place = place;
  Step step;
  for (; place < path_.size(); ++place) {
    std::string_view label = widened ? std::string_view("Add") : path_[place];
    widened = false;  // only the label where a sibling stood is affected
    if (kind == "Add" && label == kNonBiasAdd) {
      label = "Add";
      step.widens = place == first_place;
    }
    const bool match = label == kind || label == op;
    if (!match && !wild && !is_optional(label)) {
      step.fails = true;
      return step;
    }
    if (match || wild) {
      step.recorded = match;
      step.next_place = match || is_optional(label) ? place + 1 : place;
      return step;
    }
    // An optional label that this node isn't: the same node is tried on the next one.
  }
  step.next_place = place;
  return step;
}

bool PathMatcher::matches(NodeId node) { return walk(node, nullptr); }

bool PathMatcher::match_nodes(NodeId node, std::vector<NodeId>& found) { return walk(node, &found); }

bool PathMatcher::walk(NodeId start, std::vector<NodeId>* found) {
  if (path_.empty()) return true;
  if (known_.empty()) known_.assign(graph_.graph().nodes().size() * path_.size() * states_, 0);
  stack_.clear();
  bool success = false;
  // Opens a frame unless the answer is known; sets `success` where it is yes. With `found` a known yes must
  // be walked again.
  const auto enter = [&](NodeId node, std::size_t place, bool widened) {
    const std::uint8_t known = known_[key(node, place, widened)];
    if (known == static_cast<std::uint8_t>(Known::kNo) && states_ == 1) return;
    const Step step = this->step(node, place, widened);
    if (step.widens && !stack_.empty()) stack_.back().next_widened = true;
    if (known == static_cast<std::uint8_t>(Known::kNo)) return;
    if (known == static_cast<std::uint8_t>(Known::kYes) && found == nullptr) {
      success = true;
      return;
    }
    if (step.fails) {
      known_[key(node, place, widened)] = static_cast<std::uint8_t>(Known::kNo);
      return;
    }
    stack_.push_back({node, place, widened, step.recorded, step.next_place, false, 0});
    if (step.next_place == path_.size()) success = true;
  };
  enter(start, 0, false);
  while (!stack_.empty() && !success) {
    Frame& frame = stack_.back();
    const std::span<const NodeId> neighbours =
        direction_ == Direction::kForward ? graph_.children(frame.node) : graph_.parents(frame.node);
    if (frame.neighbour == neighbours.size()) {
      known_[key(frame.node, frame.place, frame.widened)] = static_cast<std::uint8_t>(Known::kNo);
      stack_.pop_back();
      continue;
    }
    const NodeId next = neighbours[frame.neighbour++];
    enter(next, frame.next_place, frame.next_widened);
  }
  if (!success) return false;
  for (const Frame& frame : stack_) {
    known_[key(frame.node, frame.place, frame.widened)] = static_cast<std::uint8_t>(Known::kYes);
    if (found != nullptr && frame.recorded) found->push_back(frame.node);
  }
  return true;
}

std::vector<std::string_view> copy_operators() {
  return {"Flatten",         "Transpose",       "Concat",    "Split",  "Squeeze", "Expand",
          "ReverseSequence", "Reshape",         "Tile",      "Gather", "Slice",   "GatherElements",
          "GatherND",        "ScatterElements", "ScatterND", "OneHot"};
}

}  // namespace halftone::tensorrt
