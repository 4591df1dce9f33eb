#include "model/graph_scopes.h"

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/extension_fields.h"

namespace halftone {
namespace {

struct Dependency {
  NodeId producer = kNone;
  std::string_view tensor;
};

// The producers that each node waits for, in one array.
struct Dependencies {
  std::vector<std::size_t> first{0};  // node i's are [first[i], first[i + 1])
  std::vector<Dependency> all;
};

std::string quoted(std::string_view name) { return "\"" + printable(name) + "\""; }

Error defined_twice(std::string_view tensor, std::string_view by) {
  return {ErrorCode::kInvalidGraph,
          "The tensor " + quoted(tensor) + " is defined twice, the second time by " + std::string(by) + ".",
          printable(tensor), "Export the model again; every tensor may be written only once."};
}

Error not_produced(std::string_view tensor, const std::string& reader) {
  return {ErrorCode::kInvalidGraph,
          reader + " reads the tensor " + quoted(tensor) + ", which nothing in the model produces.",
          printable(tensor), "Export the model again; the file refers to a tensor that isn't in it."};
}

Error cyclic(const onnx::NodeProto& node, std::string_view tensor) {
  return {ErrorCode::kInvalidGraph,
          "The graph has a cycle: node " + describe_node(node) +
              " depends on its own result through the tensor " + quoted(tensor) + ".",
          printable(tensor), "Export the model again; a graph must not contain cycles."};
}

using Definitions = std::unordered_map<std::string_view, NodeId>;

std::optional<Error> collect_node_outputs(const onnx::GraphProto& graph, Definitions& defined) {
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty() || defined.emplace(output, i).second) continue;
      return defined_twice(output, "node " + describe_node(graph.node(i)));
    }
  }
  return std::nullopt;
}

// Inputs and initializers may share a name (an input with a default value); nothing else may.
std::optional<Error> collect_definitions(const onnx::GraphProto& graph, Definitions& defined) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!defined.emplace(input.name(), kNone).second) return defined_twice(input.name(), "a graph input");
  }
  std::unordered_set<std::string_view> initializers;
  const auto add_initializer = [&](std::string_view name) {
    defined.emplace(name, kNone);
    return initializers.insert(name).second;
  };
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (!add_initializer(tensor.name())) return defined_twice(tensor.name(), "an initializer");
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    if (!add_initializer(tensor.values().name()))
      return defined_twice(tensor.values().name(), "an initializer");
  }
  for (const FieldReference& encoded : encoded_initializers(graph)) {
    if (!encoded.name.empty() && !add_initializer(encoded.name))
      return defined_twice(encoded.name, "an encoded initializer");
  }
  return collect_node_outputs(graph, defined);
}

// Depth-first from each node in file order, producers before readers, without recursion. Returns the node and
// the tensor that close a cycle, if there is one.
std::optional<std::pair<NodeId, std::string_view>> order_nodes(const Dependencies& dependencies,
                                                               std::vector<NodeId>& order) {
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  const std::size_t count = dependencies.first.size() - 1;
  std::vector<State> states(count, State::kNew);
  struct Visit {
    std::size_t node;
    std::size_t next;
  };
  std::vector<Visit> stack;
  for (std::size_t root = 0; root < count; ++root) {
    if (states[root] == State::kNew) stack.push_back({root, dependencies.first[root]});
    while (!stack.empty()) {
      Visit& visit = stack.back();
      states[visit.node] = State::kOpen;
      if (visit.next == dependencies.first[visit.node + 1]) {
        states[visit.node] = State::kDone;
        order.push_back(static_cast<NodeId>(visit.node));
        stack.pop_back();
        continue;
      }
      const Dependency& dependency = dependencies.all[visit.next++];
      const auto producer = static_cast<std::size_t>(dependency.producer);
      if (states[producer] == State::kOpen) return {{static_cast<NodeId>(visit.node), dependency.tensor}};
      if (states[producer] == State::kNew) stack.push_back({producer, dependencies.first[producer]});
    }
  }
  return std::nullopt;
}

bool file_order_is_topological(const Dependencies& dependencies) {
  for (std::size_t node = 0; node + 1 < dependencies.first.size(); ++node) {
    for (std::size_t i = dependencies.first[node]; i < dependencies.first[node + 1]; ++i) {
      if (static_cast<std::size_t>(dependencies.all[i].producer) >= node) return false;
    }
  }
  return true;
}

std::optional<Error> set_order(const onnx::GraphProto& graph, const Dependencies& dependencies,
                               GraphScopes& scopes) {
  const auto count = static_cast<std::size_t>(graph.node_size());
  scopes.order.reserve(count);
  scopes.in_file_order = file_order_is_topological(dependencies);
  if (!scopes.in_file_order) {
    const auto cycle = order_nodes(dependencies, scopes.order);
    if (cycle) return cyclic(graph.node(cycle->first), cycle->second);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < count; ++i) scopes.order.push_back(static_cast<NodeId>(i));
  return std::nullopt;
}

// Names that one graph reads from the graphs around it, each once, in order of first appearance.
class OuterNames {
 public:
  void add(std::string_view name) {
    if (seen_.insert(name).second) names_.push_back(name);
  }
  std::vector<std::string_view> take() { return std::move(names_); }

 private:
  std::unordered_set<std::string_view> seen_;
  std::vector<std::string_view> names_;
};

class ScopeResolver {
 public:
  // Fills `scopes` for this graph; returns what it reads from outside.
  Result<std::vector<std::string_view>> visit(const onnx::GraphProto& graph, int depth, GraphScopes& scopes) {
    if (depth > kMaxSubgraphDepth) {
      return Error{ErrorCode::kTooLarge,
                   "Subgraphs are nested more than " + std::to_string(kMaxSubgraphDepth) + " deep.",
                   printable(graph.name()), "Simplify the control flow of the model and export it again."};
    }
    Definitions defined;
    if (auto error = collect_definitions(graph, defined)) return *std::move(error);
    OuterNames outer;
    Dependencies dependencies;
    for (const onnx::NodeProto& node : graph.node()) {
      if (auto error = visit_node(node, depth, defined, dependencies, outer, scopes))
        return *std::move(error);
    }
    for (const onnx::ValueInfoProto& output : graph.output()) {
      if (defined.contains(output.name())) continue;
      if (depth == 0) return not_produced(output.name(), "The list of graph outputs");
      outer.add(output.name());
    }
    if (auto error = set_order(graph, dependencies, scopes)) return *std::move(error);
    return outer.take();
  }

 private:
  std::optional<Error> visit_node(const onnx::NodeProto& node, int depth, const Definitions& defined,
                                  Dependencies& dependencies, OuterNames& outer, GraphScopes& scopes) {
    std::optional<Error> error;
    const auto read = [&](std::string_view name) {
      const auto place = defined.find(name);
      if (place == defined.end()) {
        if (depth == 0 && !error) error = not_produced(name, "Node " + describe_node(node));
        outer.add(name);
      } else if (place->second != kNone) {
        dependencies.all.push_back({place->second, name});
      }
    };
    for (const std::string& input : node.input()) {
      if (!input.empty()) read(input);
    }
    OuterNames captures;
    for (const onnx::GraphProto* body : bodies(node)) {
      GraphScopes inner;
      Result<std::vector<std::string_view>> names = visit(*body, depth + 1, inner);
      if (!names.ok()) return std::move(names).error();
      for (const std::string_view name : names.value()) captures.add(name);
    }
    std::vector<std::string_view> captured = captures.take();
    for (const std::string_view name : captured) read(name);
    scopes.captures.push_back(std::move(captured));
    dependencies.first.push_back(dependencies.all.size());
    return error;
  }
};

}  // namespace

std::vector<const onnx::GraphProto*> bodies(const onnx::NodeProto& node) {
  std::vector<const onnx::GraphProto*> found;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) found.push_back(&attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) found.push_back(&graph);
  }
  return found;
}

std::string describe_node(const onnx::NodeProto& node) {
  std::string label = node.name();
  for (int i = 0; label.empty() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) label = "@" + node.output(i);
  }
  return quoted(label) + " (" + printable(node.op_type(), 60) + ")";
}

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

Result<GraphScopes> resolve_scopes(const onnx::GraphProto& graph) {
  GraphScopes scopes;
  Result<std::vector<std::string_view>> outer = ScopeResolver().visit(graph, 0, scopes);
  if (!outer.ok()) return std::move(outer).error();
  return scopes;
}

}  // namespace halftone
