#include "plan/tensorrt/node_choice.h"

#include <algorithm>

#include "plan/tensorrt/fusible_backbone.h"
#include "plan/tensorrt/off_limits.h"
#include "plan/tensorrt/partition_reading.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

class NodeChooser {
 public:
  NodeChooser(const PolicyGraph& graph, const std::vector<bool>& excluded,
              bool (*quantizable)(std::string_view))
      : graph_(graph), excluded_(excluded), quantizable_(quantizable), backbone_(graph) {
    const std::size_t count = graph.graph().nodes().size();
    choice_.standing.assign(count, Standing::kOperatorNotQuantizable);
    choice_.selected.assign(count, false);
    choice_.partition.assign(count, -1);
  }

  NodeChoice run() && {
    const NonResidualInputs non_residual = build_non_residual_input_map(graph_, backbone_);
    close_off_limits();
    partitions_ = find_fusible_partitions(graph_, partitioned_, non_residual, backbone_);
    number_partitions();
    PartitionNodes inside = classify_partition_nodes(graph_, partitions_.cask);
    std::vector<RawEdge> edges = std::move(inside.raw_edges);
    const std::vector<RawEdge> guarded = classify_partially_quantized_weighted_ops(graph_, excluded_);
    edges.insert(edges.end(), guarded.begin(), guarded.end());
    const KgenHeads kgen = filter_quantizable_kgen_heads(graph_, partitions_, quantizable_);

    select(kgen.heads, Standing::kKgenHead);
    select(inside.quantizable, Standing::kPartitionHead);
    select(find_conv_to_layernorm_nodes(graph_, partitions_.cask), Standing::kLayerNormBehindConv);
    for (const RawEdge& edge : edges) select({edge.consumer}, Standing::kPartitionEdge);
    select_leftovers();
    skip_output_layers(edges);
    drop_excluded();
    choice_.raw_edges = std::move(edges);
    choice_.raw_edges.insert(choice_.raw_edges.end(), kgen.raw_edges.begin(), kgen.raw_edges.end());
    return std::move(choice_);
  }

 private:
  void stand(NodeId id, Standing standing) { choice_.standing[index_of(id)] = standing; }

  // A node keeps the first reason that selected it.
  void select(const std::vector<NodeId>& nodes, Standing standing) {
    for (const NodeId id : nodes) {
      if (choice_.selected[index_of(id)]) continue;
      choice_.selected[index_of(id)] = true;
      stand(id, standing);
    }
  }

  void close_off_limits() {
    partitioned_ = excluded_;
    const OffLimits off = find_off_limits(graph_);
    for (const std::vector<NodeId>* nodes : {&off.gelu, &off.layer_norm, &off.attention}) {
      for (const NodeId id : *nodes) {
        partitioned_[index_of(id)] = true;
        stand(id, Standing::kOffLimits);
      }
    }
  }

  void number_partitions() {
    choice_.cask_count = partitions_.cask.size();
    for (const PartitionList* list : {&partitions_.cask, &partitions_.kgen}) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        const Partition partition = (*list)[i];
        const auto number = static_cast<std::int32_t>(choice_.partition_heads.size());
        choice_.partition_heads.push_back(partition.front());
        for (const NodeId id : partition) {
          choice_.partition[index_of(id)] = number;
          stand(id, list == &partitions_.cask ? Standing::kInsidePartition : Standing::kPointwiseChain);
        }
      }
    }
  }

  // ModelOpt's find_quantizable_nodes: what no partition took. Pooling nodes come last, judged by what was
  // selected before them.
  void select_leftovers() {
    std::vector<NodeId> accepted;
    std::vector<NodeId> pooling;
    for (const NodeId id : graph_.nodes()) {
      const GraphNode& node = graph_.graph().node(id);
      if (partitioned_[index_of(id)] || !node.domain.empty() || !quantizable_(node.op_type)) continue;
      if (graph_.is_class(id, OpClass::kPooling)) {
        pooling.push_back(id);
      } else if (graph_.is_class(id, OpClass::kPointwise) && graph_.has_const_input(id)) {
        if (!choice_.selected[index_of(id)]) stand(id, Standing::kConstantOperand);
      } else {
        accepted.push_back(id);
      }
    }
    select(accepted, Standing::kLeftover);
    const std::vector<bool> consumer = next_to_selected(/*forward=*/true);
    const std::vector<bool> producer = next_to_selected(/*forward=*/false);
    std::vector<NodeId> kept;
    for (const NodeId id : pooling) {
      if (consumer[index_of(id)] || producer[index_of(id)]) {
        kept.push_back(id);
      } else if (!choice_.selected[index_of(id)]) {
        stand(id, Standing::kPoolingApart);
      }
    }
    select(kept, Standing::kPoolingNextToQuantized);
  }

  // By node: one of its children (or parents) is selected, directly or through copy operators (backwards also
  // Cast).
  [[nodiscard]] std::vector<bool> next_to_selected(bool forward) const {
    std::vector<bool> next(choice_.selected.size(), false);
    const auto look = [&](NodeId id) {
      const std::span<const NodeId> others = forward ? graph_.children(id) : graph_.parents(id);
      next[index_of(id)] = std::any_of(others.begin(), others.end(), [&](NodeId other) {
        if (choice_.selected[index_of(other)]) return true;
        if (!next[index_of(other)]) return false;
        return graph_.is_class(other, OpClass::kCopy) ||
               (!forward && is_op(graph_.graph().node(other), "Cast"));
      });
    };
    const std::span<const NodeId> nodes = graph_.nodes();
    if (forward) {
      std::for_each(nodes.rbegin(), nodes.rend(), look);
    } else {
      std::for_each(nodes.begin(), nodes.end(), look);
    }
    return next;
  }

  // ModelOpt's get_skipped_output_layers.
  void skip_output_layers(const std::vector<RawEdge>& edges) {
    std::vector<bool> partial(choice_.selected.size(), false);
    for (const RawEdge& edge : edges) partial[index_of(edge.consumer)] = true;
    for (const TensorId output : graph_.graph().outputs()) {
      const NodeId id = graph_.producer(output);
      if (id == kNone || partial[index_of(id)] || !choice_.selected[index_of(id)]) continue;
      const GraphNode& node = graph_.graph().node(id);
      if (is_op(node, "Conv") || is_op(node, "Gemm") || is_op(node, "MatMul")) continue;
      choice_.selected[index_of(id)] = false;
      stand(id, Standing::kOutputLayer);
    }
  }

  void drop_excluded() {
    for (const NodeId id : graph_.nodes()) {
      if (!excluded_[index_of(id)]) continue;
      choice_.selected[index_of(id)] = false;
      stand(id, Standing::kExcluded);
    }
  }

  const PolicyGraph& graph_;
  const std::vector<bool>& excluded_;
  bool (*quantizable_)(std::string_view);
  FusibleBackbone backbone_;
  std::vector<bool> partitioned_;
  Partitions partitions_;
  NodeChoice choice_;
};

}  // namespace

NodeChoice choose_nodes(const PolicyGraph& graph, const std::vector<bool>& excluded,
                        bool (*quantizable)(std::string_view op_type)) {
  return NodeChooser(graph, excluded, quantizable).run();
}

NodeChoice choose_listed_nodes(const PolicyGraph& graph, const std::vector<bool>& listed,
                               const std::vector<bool>& excluded) {
  NodeChoice choice;
  const std::size_t count = graph.graph().nodes().size();
  choice.standing.assign(count, Standing::kNotListed);
  choice.selected.assign(count, false);
  choice.partition.assign(count, -1);
  for (const NodeId id : graph.nodes()) {
    const std::size_t node = index_of(id);
    choice.selected[node] = listed[node] && !excluded[node];
    if (excluded[node]) {
      choice.standing[node] = Standing::kExcluded;
    } else if (listed[node]) {
      choice.standing[node] = Standing::kListed;
    }
  }
  return choice;
}

}  // namespace halftone::tensorrt
