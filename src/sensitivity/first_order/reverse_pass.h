// The gradients of a scored tensor, written from its end to the sites.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"
#include "plan/qdq_writer.h"
#include "sensitivity/first_order/backward_step.h"
#include "sensitivity/first_order/located_sites.h"
#include "sensitivity/first_order/node_writer.h"
#include "sensitivity/first_order/shapes.h"

namespace halftone::first_order_model {

class ReversePass {
 public:
  // All must outlive it. `quantizers` and `nodes` write into the same edit of `model`.
  ReversePass(const Model& model, const LocatedSites& located, NodeWriter& nodes, QdqWriter& quantizers);

  // From the scored tensor, whose cotangent is given. Errors: kUnsupportedOp; those of simulated_values.
  Result<void> run(TensorId scored, const std::string& cotangent);
  // float32 [1]: the effect of a site. After run().
  Result<std::string> effect(std::size_t site);

 private:
  struct Contribution {
    Place from;
    std::string gradient;
  };

  Result<void> go_back(NodeId id);
  [[nodiscard]] bool depends_on_changes(NodeId id) const;
  Result<void> prepare(BackwardStep& step);
  void take_answers(const BackwardStep& step);
  Result<std::string> change_of(std::size_t site);
  std::string gradient_of(TensorId tensor);
  Result<std::string> effect_of_activation(const LocatedSite& site);

  const Model& model_;
  const Graph& graph_;
  const LocatedSites& located_;
  NodeWriter& nodes_;
  QdqWriter& quantizers_;
  Shapes shapes_;
  std::vector<bool> changed_;                             // by tensor
  bool captured_changes_ = false;                         // whether a body of control flow reads some of them
  std::vector<std::vector<Contribution>> contributions_;  // by tensor
  std::unordered_map<TensorId, std::string> gradients_;   // sums of all of a tensor's
  std::vector<std::string> changes_;                      // by site: of a constant one, once it is wanted
  std::vector<std::vector<std::string>> effects_;         // by site: of a constant one, numbers to be added
};

}  // namespace halftone::first_order_model
