// One node on the way back from the scored tensor, and what its operator's rule is asked.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"
#include "sensitivity/first_order/broadcast.h"
#include "sensitivity/first_order/node_writer.h"
#include "sensitivity/first_order/shapes.h"

namespace halftone::first_order_model {

class BackwardStep {
 public:
  BackwardStep(const Model& of, NodeId node_id, NodeWriter& writer, Shapes& known_shapes);

  const Model& model;
  const Graph& graph;
  const NodeId id;
  const GraphNode& node;
  NodeWriter& nodes;
  Shapes& shapes;

  // Asked. By output: the scored tensor's gradient by it; empty: none. At least one is there.
  std::vector<std::string> gradients;
  // By input: whether its gradient is wanted.
  std::vector<bool> wanted;
  // By input: the change of a constant that a quantizer makes for this reader; empty: none. It is wanted,
  // too.
  std::vector<std::string> changes;

  // Answered. By input: its gradient, in its own shape.
  std::vector<std::string> given;
  // By input that has a change: gradient · (derivative · change), a number, in place of the gradient.
  std::vector<std::string> effects;

  [[nodiscard]] bool wants(std::size_t input) const { return input < wanted.size() && wanted[input]; }
  [[nodiscard]] bool wants_any_behind(std::size_t input) const;
  // kNone, "": left out.
  [[nodiscard]] TensorId input_id(std::size_t input) const;
  [[nodiscard]] std::string input(std::size_t input) const;
  [[nodiscard]] std::string output(std::size_t output = 0) const;
  [[nodiscard]] const std::string& gradient() const { return gradients.front(); }

  // The gradient of input 0 as the product of the output's and a factor.
  void give_product(const std::string& factor);
  // What goes through the operands of a broadcast.
  [[nodiscard]] Broadcast broadcast() const { return {graph, shapes, nodes, node.inputs}; }

  // For an input in which the operator is linear, without a constant term: the effect by running the operator
  // on the change, with the first `inputs` of its inputs. Only where the input has a change.
  void give_linear_effect(std::size_t input, std::size_t inputs);
  // The node's attributes of these names, as they are.
  [[nodiscard]] Attributes attributes(std::initializer_list<std::string_view> names) const;
  // Of an integer constant; nullopt for anything else. Lists longer than 1024 are none.
  [[nodiscard]] std::optional<Ints> constant_ints(std::size_t input) const;
  // Of a float32 constant.
  [[nodiscard]] std::optional<std::vector<float>> constant_floats(std::size_t input) const;

  // kUnsupportedOp: "… <why>".
  [[nodiscard]] Error unsupported(std::string_view why) const;
};

}  // namespace halftone::first_order_model
