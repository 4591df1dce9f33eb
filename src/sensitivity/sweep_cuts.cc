#include "halftone/sweep_cuts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace halftone {
namespace {

constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

// Runtimes join an operator with those that come after it (an activation, a bias, a normalisation), never
// with those in front of one of these. A tensor that only another kind of operator reads may be inside such a
// group, and a cut there is likely to change the float values by rounding.
constexpr std::array<std::string_view, 9> kGroupHeads = {"Conv",   "ConvTranspose",     "Gemm",
                                                         "MatMul", "MaxPool",           "AveragePool",
                                                         "Concat", "GlobalAveragePool", "LSTM"};
// Counts as this many crossings more.
constexpr std::int32_t kInsideGroup = 1000;

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// When a tensor comes into being and when it is read last, as positions of nodes. Not alive at all: born
// where it is read last.
struct Life {
  std::int32_t born = -1;
  std::int32_t last_read = -1;
};

class CutSearch {
 public:
  CutSearch(const Graph& graph, std::span<const std::string> scored,
            const std::vector<std::int32_t>& position)
      : graph_(graph), position_(position), needed_(graph.nodes().size(), false) {
    find_needed(scored);
    find_lives();
    count_crossings();
    find_stops();
  }

  std::vector<Cut> choose(std::size_t most) const {
    std::vector<Cut> cuts;
    if (most == 0 || stops_.size() < 2) return cuts;
    add_front(cuts);
    const std::size_t inner = cuts.size() + most;
    const std::size_t step = std::max<std::size_t>(2, stops_.size() / (std::min(most, stops_.size()) + 1));
    std::size_t after = 0;
    for (std::size_t target = step; target < stops_.size() && cuts.size() < inner; target += step) {
      const std::size_t stop = best_near(target, step, after);
      if (stop == stops_.size()) continue;
      cuts.push_back({crossing(stops_[stop]), stops_[stop]});
      after = stop;
    }
    return cuts;
  }

 private:
  void find_needed(std::span<const std::string> scored) {
    std::vector<TensorId> open;
    for (const std::string& name : scored) {
      const TensorId id = graph_.find_tensor(name);
      if (id == kNone) continue;
      open.push_back(id);
      const NodeId producer = graph_.tensor(id).producer;
      last_place_ = std::min(last_place_, producer == kNone ? 0 : position_[index_of(producer)]);
    }
    if (open.empty()) last_place_ = 0;
    bool bodies = false;
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      const NodeId node = id == kNone ? kNone : graph_.tensor(id).producer;
      if (node == kNone || needed_[index_of(node)]) continue;
      needed_[index_of(node)] = true;
      const auto& inputs = graph_.node(node).inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
      if (!graph_.node(node).has_subgraph || bodies) continue;
      bodies = true;
      for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
        if (graph_.tensors()[i].read_by_subgraph) open.push_back(static_cast<TensorId>(i));
      }
    }
  }

  void find_lives() {
    std::int32_t last_body = -1;
    for (std::size_t node = 0; node < graph_.nodes().size(); ++node) {
      if (needed_[node] && graph_.nodes()[node].has_subgraph)
        last_body = std::max(last_body, position_[node]);
    }
    lives_.resize(graph_.tensors().size());
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const GraphTensor& tensor = graph_.tensors()[i];
      if (tensor.constant) continue;
      Life& life = lives_[i];
      if (tensor.producer != kNone) life.born = position_[index_of(tensor.producer)];
      for (const Use use : tensor.consumers) {
        if (needed_[index_of(use.node)])
          life.last_read = std::max(life.last_read, position_[index_of(use.node)]);
      }
      if (tensor.read_by_subgraph) life.last_read = std::max(life.last_read, last_body);
    }
  }

  [[nodiscard]] bool may_be_inside_group(const GraphTensor& tensor) const {
    if (tensor.producer == kNone || tensor.consumers.size() != 1 || tensor.graph_output) return false;
    const std::string& op = graph_.node(tensor.consumers[0].node).op_type;
    return std::find(kGroupHeads.begin(), kGroupHeads.end(), op) == kGroupHeads.end();
  }

  // A tensor crosses the places born + 1 … last_read.
  void count_crossings() {
    std::vector<std::int32_t> change(graph_.nodes().size() + 2, 0);
    std::vector<std::int32_t> unfit(graph_.nodes().size() + 2, 0);
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (graph_.tensors()[i].constant || lives_[i].last_read <= lives_[i].born) continue;
      const DataType type = graph_.tensors()[i].type;
      const bool fits = type != DataType::kUndefined && type != DataType::kString;
      std::vector<std::int32_t>& counts = fits ? change : unfit;
      const std::int32_t weight = 1 + (may_be_inside_group(graph_.tensors()[i]) ? kInsideGroup : 0);
      counts[index_of(lives_[i].born + 1)] += weight;
      counts[index_of(lives_[i].last_read + 1)] -= weight;
    }
    crossings_.assign(change.size(), 0);
    std::int32_t alive = 0;
    std::int32_t bad = 0;
    for (std::size_t place = 0; place < change.size(); ++place) {
      alive += change[place];
      bad += unfit[place];
      crossings_[place] = bad > 0 ? kNowhere : alive;
    }
  }

  // In front of the nodes that a run computes; Constant nodes and chains over them cost nothing there.
  void find_stops() {
    for (const NodeId id : graph_.topological_order()) {
      const auto& outputs = graph_.node(id).outputs;
      const bool constant = std::all_of(outputs.begin(), outputs.end(), [&](TensorId output) {
        return output == kNone || graph_.tensor(output).constant;
      });
      const std::int32_t place = position_[index_of(id)];
      if (needed_[index_of(id)] && !constant && place <= last_place_) stops_.push_back(place);
    }
  }

  // In front of everything that a run computes: what crosses are graph inputs. Nothing is left to run in
  // front of it, but a part is a model without the constant nodes and the dead ones, which a session costs
  // less.
  void add_front(std::vector<Cut>& cuts) const {
    const std::int32_t front = stops_.front();
    const std::int32_t count = crossings_[index_of(front)];
    if (count < 1 || count == kNowhere ||
        count % kInsideGroup > static_cast<std::int32_t>(SweepCuts::kMostTensors))
      return;
    cuts.push_back({crossing(front), front});
  }

  // The stop with the fewest crossings within half a step of `target`, the nearest of several; the number of
  // stops if none qualifies.
  [[nodiscard]] std::size_t best_near(std::size_t target, std::size_t step, std::size_t after) const {
    const auto crossings = [&](std::size_t stop) { return crossings_[index_of(stops_[stop])]; };
    const auto distance = [&](std::size_t stop) { return stop > target ? stop - target : target - stop; };
    constexpr auto kMost = static_cast<std::int32_t>(SweepCuts::kMostTensors);
    std::size_t best = stops_.size();
    const std::size_t last = std::min(stops_.size() - 1, target + step / 2);
    for (std::size_t stop = std::max(after + 1, target - step / 2); stop <= last; ++stop) {
      if (crossings(stop) < 1 || crossings(stop) == kNowhere || crossings(stop) % kInsideGroup > kMost)
        continue;
      if (best == stops_.size() || crossings(stop) < crossings(best) ||
          (crossings(stop) == crossings(best) && distance(stop) < distance(best)))
        best = stop;
    }
    return best;
  }

  [[nodiscard]] std::vector<std::string> crossing(std::int32_t place) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const GraphTensor& tensor = graph_.tensors()[i];
      if (!tensor.constant && lives_[i].born < place && place <= lives_[i].last_read)
        names.push_back(tensor.name);
    }
    return names;
  }

  const Graph& graph_;
  const std::vector<std::int32_t>& position_;
  std::vector<bool> needed_;             // by node
  std::vector<Life> lives_;              // by tensor
  std::vector<std::int32_t> crossings_;  // by place, weighted; kNowhere where one can't be cut
  std::vector<std::int32_t> stops_;      // places that may be cuts, ascending
  std::int32_t last_place_ = kNowhere;
};

}  // namespace

SweepCuts::SweepCuts(const Graph& graph, std::span<const std::string> scored, std::size_t most)
    : position_(graph.nodes().size(), 0), first_body_(kNowhere) {
  std::int32_t next = 0;
  for (const NodeId id : graph.topological_order()) {
    if (graph.node(id).has_subgraph) first_body_ = std::min(first_body_, next);
    position_[index_of(id)] = next++;
  }
  cuts_ = CutSearch(graph, scored, position_).choose(most);
}

std::int32_t SweepCuts::first_reader(const GraphTensor& tensor) const {
  std::int32_t first = tensor.read_by_subgraph ? first_body_ : kNowhere;
  for (const Use use : tensor.consumers) first = std::min(first, position_[index_of(use.node)]);
  return first;
}

std::int32_t SweepCuts::cut_for(const Graph& graph, const Site& site) const {
  const TensorId id = graph.find_tensor(site.tensor);
  const std::int32_t reader = id == kNone ? kNowhere : first_reader(graph.tensor(id));
  if (reader == kNowhere) return kNone;
  std::int32_t found = kNone;
  for (std::size_t i = 0; i < cuts_.size() && cuts_[i].place <= reader; ++i)
    found = static_cast<std::int32_t>(i);
  return found;
}

bool SweepCuts::independent(const Graph& graph, std::span<const Site* const> sites) const {
  for (const Site* site : sites) {
    const TensorId id = graph.find_tensor(site->tensor);
    if (id == kNone || graph.tensor(id).constant || graph.tensor(id).producer == kNone) continue;
    const std::int32_t made = position_[index_of(graph.tensor(id).producer)];
    for (const Site* other : sites) {
      const TensorId read = graph.find_tensor(other->tensor);
      if (other != site && read != kNone && first_reader(graph.tensor(read)) <= made) return false;
    }
  }
  return true;
}

}  // namespace halftone
