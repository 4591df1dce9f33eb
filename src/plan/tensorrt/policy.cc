#include "plan/tensorrt/policy.h"

#include <utility>

#include "plan/tensorrt/concat_groups.h"
#include "plan/tensorrt/peer_names.h"
#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id); }

bool any_operator(std::string_view) { return true; }

bool for_dla(const PolicyOptions& options) { return options.dla && options.precision == Precision::kInt8; }

std::vector<bool> all_nodes(const PolicyGraph& graph) {
  return std::vector<bool>(graph.graph().nodes().size(), true);
}

// Nodes whose name starts with what the name of an excluded node matches when read as a pattern; and not the
// excluded nodes whose own name doesn't match itself.
void reproduce_name_patterns(const PolicyGraph& graph, std::vector<Exclusion>& exclusions) {
  if (exclusions.empty()) return;
  const std::vector<std::string> names = peer_node_names(graph);
  std::vector<std::string> patterns;
  patterns.reserve(exclusions.size());
  for (const Exclusion& exclusion : exclusions) patterns.push_back(names[index_of(exclusion.node)]);
  const std::vector<bool> caught = expand_node_names_from_patterns(names, patterns);
  std::vector<bool> known(names.size(), false);
  std::vector<Exclusion> kept;
  for (Exclusion& exclusion : exclusions) {
    known[index_of(exclusion.node)] = true;
    if (caught[index_of(exclusion.node)]) kept.push_back(std::move(exclusion));
  }
  for (const NodeId id : graph.nodes()) {
    if (!caught[index_of(id)] || known[index_of(id)]) continue;
    kept.push_back({id, "name_of_excluded",
                    node_phrase(graph.graph(), id) +
                        " is excluded because ModelOpt reads the name of another excluded node as a "
                        "pattern, which this name fits too; without --match modelopt it isn't."});
  }
  exclusions = std::move(kept);
}

std::vector<Exclusion> find_exclusions(const PolicyGraph& graph, const TensorShapes& shapes,
                                       const PolicyOptions& options) {
  std::vector<Exclusion> found;
  const auto add = [&](std::vector<Exclusion> more) {
    for (Exclusion& exclusion : more) found.push_back(std::move(exclusion));
  };
  if (!for_dla(options)) {
    add(find_nodes_from_mha_to_exclude(graph, shapes, options.precision));
    add(find_nodes_from_matmul_to_exclude(graph, shapes));
  }
  if (graph.peer() == Peer::kReproduce) reproduce_name_patterns(graph, found);
  if (!for_dla(options)) add(find_nodes_from_convs_to_exclude(graph, options.precision));
  return found;
}

std::vector<bool> left_out_nodes(const NodeChoice& choice) {
  std::vector<bool> nodes(choice.standing.size(), false);
  for (std::size_t node = 0; node < nodes.size(); ++node)
    nodes[node] =
        choice.standing[node] == Standing::kExcluded || choice.standing[node] == Standing::kNotListed;
  return nodes;
}

}  // namespace

bool (*quantizable_operators(const PolicyOptions& options))(std::string_view) {
  if (options.precision == Precision::kFloat8) return is_quantizable_float8;
  return options.dla || options.listed ? any_operator : is_quantizable_int8;
}

Policy apply_policy(const PolicyGraph& graph, const TensorShapes& shapes, const PolicyOptions& options,
                    std::vector<bool> excluded) {
  Policy policy;
  policy.exclusions = find_exclusions(graph, shapes, options);
  for (const Exclusion& exclusion : policy.exclusions) excluded[index_of(exclusion.node)] = true;
  const auto quantizable = quantizable_operators(options);
  policy.choice = options.listed || for_dla(options)
                      ? choose_listed_nodes(graph, options.listed.value_or(all_nodes(graph)), excluded)
                      : choose_nodes(graph, excluded, quantizable);
  policy.scale_group = get_concat_eliminated_tensors(graph, policy.choice.selected);
  policy.marks = mark_inputs(graph, policy.choice, quantizable, options.patterns);
  remove_partial_input_qdq(graph, policy.choice.raw_edges, policy.marks);
  if (options.raw_excluded) keep_raw(graph, left_out_nodes(policy.choice), policy.marks);
  return policy;
}

}  // namespace halftone::tensorrt
