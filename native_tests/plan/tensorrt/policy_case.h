// Small graphs in the notation of the policy's worked examples, and what the policy makes of them, as text
// that a test can write down.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "plan/tensorrt/partitions.h"
#include "plan/tensorrt/policy.h"
#include "support/model_builder.h"

namespace halftone::test {

using Lines = std::vector<std::string>;
using Attributes = std::vector<AttributeSetting>;

class PolicyCase {
 public:
  explicit PolicyCase(std::int64_t opset = 17) { builder_.opset(opset); }

  PolicyCase& input(std::string_view name, const Dims& dims);
  // A float initializer. Names that start with w and are used without being declared have the shape
  // [32, 32, 1, 1].
  PolicyCase& weight(std::string_view name, const Dims& dims);
  // The same in a Constant node.
  PolicyCase& constant_node(std::string_view name, const Dims& dims);
  // int64 initializer: for shapes, axes and the like.
  PolicyCase& integers(std::string_view name, const std::vector<std::int64_t>& values);
  // "c1 = Conv(x, w1, b1) #conv1": outputs, operator, inputs ("_": omitted), node name (none: nameless).
  PolicyCase& node(std::string_view line, const Attributes& attributes = {}, std::string_view domain = "");
  // Several of them, separated by semicolons.
  PolicyCase& nodes(std::string_view lines);
  PolicyCase& output(std::string_view name);

  [[nodiscard]] std::shared_ptr<const Model> open() const { return builder_.open(); }

 private:
  ModelBuilder builder_;
  std::set<std::string, std::less<>> declared_;
};

struct PlacedOptions {
  tensorrt::Peer peer = tensorrt::Peer::kCorrect;
  tensorrt::PolicyOptions policy;
  std::vector<std::string> excluded;  // node labels
};

// The policy applied to a model.
class Placed {
 public:
  explicit Placed(std::shared_ptr<const Model> model, const PlacedOptions& options = {});
  explicit Placed(const PolicyCase& graph, const PlacedOptions& options = {})
      : Placed(graph.open(), options) {}

  // One line a node, in graph order: "add: c3 DQ(r1)". A raw input is its tensor's name, an omitted one "-".
  [[nodiscard]] Lines reads() const;
  // The part of that line behind the colon.
  [[nodiscard]] std::string reads(std::string_view node) const;
  // Labels of the selected nodes in graph order, separated by spaces.
  [[nodiscard]] std::string selected() const;
  // Labels of the automatically excluded nodes with their rules: "mm:gemv".
  [[nodiscard]] std::string exclusions() const;
  // The tensors of each scale group in alphabetical order: "{c1 c2 cc}", by group.
  [[nodiscard]] std::string scale_groups() const;

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const Graph& graph() const { return model_->graph(); }
  [[nodiscard]] const tensorrt::PolicyGraph& view() const { return view_; }
  [[nodiscard]] const tensorrt::Policy& policy() const { return policy_; }
  // Fails the running test if there is no such node / tensor.
  [[nodiscard]] NodeId node(std::string_view label) const;
  [[nodiscard]] TensorId tensor(std::string_view name) const;

 private:
  std::shared_ptr<const Model> model_;
  tensorrt::PolicyGraph view_;
  tensorrt::Policy policy_;
};

// "[conv1 relu1] [conv2]"
std::string partition_text(const Graph& graph, const tensorrt::PartitionList& partitions);
// "conv1 relu1"
std::string node_text(const Graph& graph, std::span<const NodeId> nodes);
// "conv3>add:c3"
std::string edge_text(const Graph& graph, const std::vector<tensorrt::RawEdge>& edges);

// CASK and KGEN partitions of a graph in which nothing is excluded; off-limits nodes are left out.
tensorrt::Partitions partitions_of(const tensorrt::PolicyGraph& graph);

}  // namespace halftone::test
