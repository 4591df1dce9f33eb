// Which nodes and tensors the include and exclude patterns leave in.
//
// A pattern that matches a node (its label, or its operator type with op:) speaks about all inputs of that
// node; one that matches a tensor speaks about that tensor wherever it is read. With include patterns only
// what one of them matches is in; exclude wins over include.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "plan/pattern.h"

namespace halftone {

// Why a reading is left out.
struct LeftOut {
  std::string rule;  // "excluded" or "not_included"
  std::string why;
};

class Selection {
 public:
  // Linear in nodes + tensors for each glob and regular expression; exact names are looked up. Appends a
  // warning "pattern_matches_nothing" with near misses for every pattern without a match. Errors: as
  // Pattern::parse.
  static Result<Selection> build(const Graph& graph, const PlanOptions& options,
                                 std::vector<Warning>& warnings);

  // nullopt: node `node` may read `tensor` quantized.
  [[nodiscard]] std::optional<LeftOut> left_out(NodeId node, TensorId tensor) const;

  // For targets that decide by node. Whether an exclude pattern matches the node itself, not only a tensor of
  // its; whether there is any include pattern; and whether one of them is "op:" with this operator.
  [[nodiscard]] bool excludes_node(NodeId node) const;
  [[nodiscard]] bool has_include() const { return !include_.patterns.empty(); }
  [[nodiscard]] bool includes_operator(std::string_view op_type) const;

 private:
  // The patterns of one option, and for every node and tensor the first of them that matches (-1: none).
  struct Matches {
    std::vector<Pattern> patterns;
    std::vector<std::int32_t> of_node;
    std::vector<std::int32_t> of_tensor;
    std::vector<bool> used;  // by pattern
    [[nodiscard]] std::int32_t find(NodeId node, TensorId tensor) const;
  };

  static Result<Matches> match(const Graph& graph, std::span<const std::string> texts);
  static void match_names(const Graph& graph, Matches& matches);
  static void match_exact(const Graph& graph, Matches& matches);
  static void note_match(Matches& matches, std::vector<std::int32_t>& of, std::int32_t id,
                         std::int32_t pattern);
  static void warn_unused(const Graph& graph, const Matches& matches, std::string_view option,
                          std::vector<Warning>& warnings);

  Matches include_;
  Matches exclude_;
};

}  // namespace halftone
