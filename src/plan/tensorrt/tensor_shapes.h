// The shapes that the automatic exclusions look at: those that a run on a sample found, else inferred ones
// with every unknown dimension taken as 1, as ModelOpt does when it only has shape inference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "halftone/graph.h"

namespace halftone::tensorrt {

using Shape = std::vector<std::int64_t>;

class TensorShapes {
 public:
  TensorShapes(const Graph& graph, const std::vector<std::pair<std::string, Shape>>& from_a_run);

  // nullopt if the rank isn't known.
  [[nodiscard]] std::optional<Shape> of(TensorId tensor) const;
  // Whether nothing of it had to be guessed.
  [[nodiscard]] bool is_known(TensorId tensor) const;

 private:
  const Graph& graph_;
  std::unordered_map<TensorId, Shape> measured_;
};

}  // namespace halftone::tensorrt
