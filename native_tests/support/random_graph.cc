#include "support/random_graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace halftone::test {
namespace {

constexpr std::int64_t kMostElements = 4096;  // of an activation: the test is about graphs, not about sums

std::int64_t product(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

class Grower {
 public:
  explicit Grower(std::uint32_t seed) : random_(seed) { graph_.seed = seed; }

  RandomGraph grow() {
    graph_.opset = pick({13, 17, 17, 19, 21});
    add_inputs();
    const std::size_t wanted = 1 + below(25);
    for (std::size_t attempt = 0; graph_.nodes.size() < wanted && attempt < 8 * wanted; ++attempt) step();
    if (graph_.nodes.empty()) unary(live_.front(), "Relu");
    choose_outputs();
    return std::move(graph_);
  }

 private:
  using Tensor = RandomGraph::Tensor;

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::int64_t pick(std::initializer_list<std::int64_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(below(values.size())));
  }

  void add_inputs() {
    const std::int64_t batch = pick({1, 1, 2});
    const std::int64_t side = pick({4, 8});
    add_input({"image", {batch, pick({3, 8, 16, 32}), side, side}});
    if (chance(30)) add_input({"sequence", {batch, pick({4, 16}), pick({8, 32})}});
    if (chance(20)) add_input({"vector", {batch, pick({8, 20})}});
  }

  void add_input(Tensor tensor) {
    graph_.inputs.push_back(tensor);
    live_.push_back(std::move(tensor));
  }

  // A late tensor more often than an early one, but any.
  Tensor choose() {
    const std::size_t back = chance(60) ? below(std::min<std::size_t>(3, live_.size())) : below(live_.size());
    return live_[live_.size() - 1 - back];
  }

  // A tensor for which `fits`, or nothing.
  template <typename Fits>
  const Tensor* find(Fits fits) {
    std::vector<const Tensor*> found;
    for (const Tensor& tensor : live_) {
      if (fits(tensor)) found.push_back(&tensor);
    }
    return found.empty() ? nullptr : found[below(found.size())];
  }

  std::string fresh(std::string_view stem) { return std::string(stem) + std::to_string(next_++); }

  // A weight of its own, or one that a node has already.
  std::string weight(const Dims& dims) {
    std::vector<std::string>& known = weights_[dims];
    if (!known.empty() && chance(25)) return known[below(known.size())];
    std::vector<float> values =
        random_values(static_cast<std::size_t>(product(dims)), static_cast<std::uint32_t>(random_()));
    for (float& value : values) value *= 0.5F;
    known.push_back(constant("w", dims, std::move(values), chance(15)));
    return known.back();
  }

  std::string constant(std::string_view stem, const Dims& dims, std::vector<float> values,
                       bool in_node = false) {
    const std::string name = fresh(stem);
    graph_.constants.push_back({{name, dims}, std::move(values), {}, in_node});
    return name;
  }

  std::string positive(std::int64_t count) {
    std::vector<float> values =
        random_values(static_cast<std::size_t>(count), static_cast<std::uint32_t>(random_()));
    for (float& value : values) value = value * 0.4F + 1.0F;
    return constant("p", {count}, std::move(values));
  }

  std::string integers(std::vector<std::int64_t> values) {
    const std::string name = fresh("i");
    graph_.constants.push_back({{name, {static_cast<std::int64_t>(values.size())}}, {}, std::move(values)});
    return name;
  }

  Tensor node(std::string_view op, std::vector<std::string> inputs, const Dims& dims,
              std::vector<AttributeSetting> attributes = {}) {
    Tensor out = {fresh("t"), dims};
    add_node(op, std::move(inputs), {out}, std::move(attributes));
    return out;
  }

  void add_node(std::string_view op, std::vector<std::string> inputs, const std::vector<Tensor>& outputs,
                std::vector<AttributeSetting> attributes) {
    RandomGraph::Node added = {std::string(op), std::move(inputs), {}, "", std::move(attributes)};
    if (!chance(10)) added.name = fresh(added.op + "_");
    for (const std::string& input : added.inputs) read_.insert(input);
    for (const Tensor& output : outputs) {
      added.outputs.push_back(output.name);
      live_.push_back(output);
    }
    graph_.nodes.push_back(std::move(added));
  }

  void step() {
    const Tensor x = choose();
    switch (below(x.dims.size() == 4 ? 13 : 9)) {
      case 0:
        return add_or_mul(x, chance(75) ? "Add" : "Mul");
      case 1:
        return add_or_mul(x, "Add");
      case 2:
        return unary(x, chance(70) ? "Relu" : "Sigmoid");
      case 3:
        return chance(50) ? clip(x) : softmax(x);
      case 4:
        return concat(x);
      case 5:
        return chance(50) ? split(x) : reshape(x);
      case 6:
        return transpose(x);
      case 7:
      case 8:
        return x.dims.size() == 4 ? conv(x) : x.dims.size() == 2 && chance(60) ? gemm(x) : matmul(x);
      case 9:
        return conv(x);
      case 10:
        return chance(60) ? batch_normalization(x) : conv_transpose(x);
      case 11:
        return pool(x);
      default:
        return chance(50) ? resize(x) : squeeze_and_excite(x);
    }
  }

  void conv(const Tensor& x) {
    const std::int64_t channels = x.dims[1];
    if (channels > 48) return;
    const bool depthwise = chance(25);
    const std::int64_t kernel = pick({1, 1, 3, 3, 5});
    const std::int64_t stride = x.dims[2] >= 4 && x.dims[3] >= 4 ? pick({1, 1, 2}) : 1;
    const std::int64_t out = depthwise ? channels : pick({3, 8, 16, 17, 24, 32, channels});
    const auto side = [&](std::int64_t length) { return (length + 2 * (kernel / 2) - kernel) / stride + 1; };
    const Dims dims = {x.dims[0], out, side(x.dims[2]), side(x.dims[3])};
    std::vector<std::string> inputs = {x.name, weight({out, depthwise ? 1 : channels, kernel, kernel})};
    if (chance(50)) inputs.push_back(weight({out}));
    const std::int64_t pad = kernel / 2;
    std::vector<AttributeSetting> attributes = {{"pads", std::vector<std::int64_t>(4, pad)},
                                                {"strides", std::vector<std::int64_t>(2, stride)},
                                                {"group", depthwise ? channels : std::int64_t{1}}};
    if (chance(80)) attributes.emplace_back("kernel_shape", std::vector<std::int64_t>(2, kernel));
    node("Conv", std::move(inputs), dims, std::move(attributes));
  }

  void conv_transpose(const Tensor& x) {
    const std::int64_t channels = x.dims[1];
    if (channels > 32 || x.dims[2] > 8 || x.dims[3] > 8) return;
    const std::int64_t group = channels % 2 == 0 && chance(30) ? 2 : 1;
    const std::int64_t out = pick({4, 8, 16});
    node("ConvTranspose", {x.name, weight({channels, out / group, 2, 2})},
         {x.dims[0], out, 2 * x.dims[2], 2 * x.dims[3]},
         {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
          {"strides", std::vector<std::int64_t>{2, 2}},
          {"group", group}});
  }

  void batch_normalization(const Tensor& x) {
    const std::int64_t channels = x.dims[1];
    node("BatchNormalization",
         {x.name, positive(channels), weight({channels}), weight({channels}), positive(channels)}, x.dims);
  }

  void unary(const Tensor& x, std::string_view op) { node(op, {x.name}, x.dims); }

  void softmax(const Tensor& x) { node("Softmax", {x.name}, x.dims, {{"axis", std::int64_t{-1}}}); }

  void clip(const Tensor& x) {
    const bool six = chance(60);
    node("Clip",
         {x.name, constant("low", {}, {six ? 0.0F : -1.0F}), constant("high", {}, {six ? 6.0F : 1.0F})},
         x.dims);
  }

  void pool(const Tensor& x) {
    if (chance(30)) {
      node("GlobalAveragePool", {x.name}, {x.dims[0], x.dims[1], 1, 1});
      return;
    }
    if (x.dims[2] < 2 || x.dims[3] < 2) return;
    node(chance(60) ? "MaxPool" : "AveragePool", {x.name},
         {x.dims[0], x.dims[1], x.dims[2] / 2, x.dims[3] / 2},
         {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  }

  // With another tensor of the same shape (a residual branch, or the tensor itself), or with a constant.
  void add_or_mul(const Tensor& x, std::string_view op) {
    const Tensor* other = find([&](const Tensor& tensor) { return tensor.dims == x.dims; });
    if (other->name == x.name && chance(80)) other = nullptr;
    std::vector<std::string> inputs = {x.name, ""};
    if (other != nullptr && chance(80)) {
      inputs[1] = other->name;
    } else if (x.dims.size() == 4 && chance(60)) {
      inputs[1] = weight({x.dims[1], 1, 1});
    } else {
      inputs[1] = weight({chance(50) ? 1 : x.dims.back()});
    }
    if (chance(40)) std::swap(inputs[0], inputs[1]);
    node(op, std::move(inputs), x.dims);
  }

  void squeeze_and_excite(const Tensor& x) {
    if (x.dims[1] > 48) return;
    const Dims one = {x.dims[0], x.dims[1], 1, 1};
    const Tensor pooled = node("GlobalAveragePool", {x.name}, one);
    const Tensor mixed = node("Conv", {pooled.name, weight({x.dims[1], x.dims[1], 1, 1})}, one);
    const Tensor gate = node("Sigmoid", {mixed.name}, one);
    node("Mul", {x.name, gate.name}, x.dims);
  }

  void concat(const Tensor& x) {
    const Tensor* other = find([&](const Tensor& tensor) {
      Dims dims = tensor.dims;
      if (dims.size() != x.dims.size()) return false;
      dims[1] = x.dims[1];
      return dims == x.dims;
    });
    Dims dims = x.dims;
    dims[1] += other->dims[1];
    if (dims[1] > 64 || product(dims) > kMostElements) return;
    node("Concat", {x.name, other->name}, dims, {{"axis", std::int64_t{1}}});
  }

  void split(const Tensor& x) {
    if (x.dims[1] < 2) return;
    Dims first = x.dims;
    Dims second = x.dims;
    first[1] = x.dims[1] / 2;
    second[1] = x.dims[1] - first[1];
    add_node("Split", {x.name, integers({first[1], second[1]})}, {{fresh("t"), first}, {fresh("t"), second}},
             {{"axis", std::int64_t{1}}});
  }

  void reshape(const Tensor& x) {
    const std::int64_t rest = product(x.dims) / x.dims[0];
    if (rest > 512) return;
    Dims dims = {x.dims[0], rest};
    if (x.dims.size() == 2) {
      if (rest % 4 != 0) return;
      dims = {x.dims[0], 4, rest / 4};
    }
    node("Reshape", {x.name, integers(dims)}, dims);
  }

  void transpose(const Tensor& x) {
    if (x.dims.size() == 2) return;
    std::vector<std::int64_t> perm = {0, 2, 1};
    if (x.dims.size() == 4) perm = chance(50) ? std::vector<std::int64_t>{0, 1, 3, 2} : Dims{0, 2, 3, 1};
    Dims dims;
    for (const std::int64_t axis : perm) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
    node("Transpose", {x.name}, dims, {{"perm", perm}});
  }

  void gemm(const Tensor& x) {
    const std::int64_t out = pick({1, 4, 10, 16, 32});
    const bool transposed = chance(50);
    const Dims dims = transposed ? Dims{out, x.dims[1]} : Dims{x.dims[1], out};
    std::vector<std::string> inputs = {x.name, weight(dims)};
    if (chance(60)) inputs.push_back(weight({out}));
    std::vector<AttributeSetting> attributes;
    if (transposed) attributes.emplace_back("transB", std::int64_t{1});
    if (chance(15)) attributes.emplace_back("beta", 0.5F);
    node("Gemm", std::move(inputs), {x.dims[0], out}, std::move(attributes));
  }

  void matmul(const Tensor& x) {
    const Tensor* other = find([&](const Tensor& tensor) {
      return x.dims.size() == 3 && tensor.dims.size() == 3 && tensor.dims[0] == x.dims[0] &&
             tensor.dims[1] == x.dims[2];
    });
    Dims dims = x.dims;
    if (other != nullptr && chance(60)) {
      dims.back() = other->dims.back();
      node("MatMul", {x.name, other->name}, dims);
      return;
    }
    dims.back() = pick({1, 8, 16, 32, 33});
    const bool batched = x.dims.size() == 3 && chance(15);
    const Dims matrix =
        batched ? Dims{x.dims[0], x.dims.back(), dims.back()} : Dims{x.dims.back(), dims.back()};
    node("MatMul", {x.name, weight(matrix)}, dims);
  }

  void resize(const Tensor& x) {
    if (x.dims[2] > 8 || x.dims[3] > 8 || 4 * product(x.dims) > kMostElements) return;
    node("Resize", {x.name, "", constant("scales", {4}, {1.0F, 1.0F, 2.0F, 2.0F})},
         {x.dims[0], x.dims[1], 2 * x.dims[2], 2 * x.dims[3]}, {{"mode", std::string("nearest")}});
  }

  // Everything that nobody reads, and sometimes something that somebody reads.
  void choose_outputs() {
    std::set<std::string> inputs;
    for (const Tensor& input : graph_.inputs) inputs.insert(input.name);
    for (const Tensor& tensor : live_) {
      if (inputs.contains(tensor.name)) continue;
      if (!read_.contains(tensor.name) || chance(7)) graph_.outputs.push_back(tensor);
    }
  }

  std::mt19937 random_;
  RandomGraph graph_;
  std::vector<Tensor> live_;  // activations so far
  std::set<std::string> read_;
  std::map<Dims, std::vector<std::string>> weights_;
  std::size_t next_ = 0;
};

}  // namespace

ModelBuilder RandomGraph::builder() const {
  ModelBuilder model;
  model.opset(opset);
  for (const Tensor& tensor : inputs) model.input(tensor.name, tensor.dims);
  for (const Constant& constant : constants) {
    const Tensor& tensor = constant.tensor;
    if (!constant.integers.empty()) {
      std::string raw(constant.integers.size() * sizeof(std::int64_t), '\0');
      std::memcpy(raw.data(), constant.integers.data(), raw.size());
      model.tensor(tensor.name, DataType::kInt64, tensor.dims, raw);
    } else if (constant.in_node) {
      model.constant_node(tensor.name, tensor.dims, constant.floats);
    } else {
      model.floats(tensor.name, tensor.dims, constant.floats);
    }
  }
  for (const Node& each : nodes) model.node(each.op, each.inputs, each.outputs, each.name, each.attributes);
  for (const Tensor& tensor : outputs) model.output(tensor.name, tensor.dims);
  return model;
}

RandomGraph random_graph(std::uint32_t seed) { return Grower(seed).grow(); }

RandomGraph shuffled(RandomGraph graph, std::mt19937& random) {
  std::set<std::string> made;  // by nodes that are still waiting
  for (const RandomGraph::Node& node : graph.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  std::vector<RandomGraph::Node> waiting = std::move(graph.nodes);
  graph.nodes.clear();
  while (!waiting.empty()) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto missing = [&](const std::string& input) { return made.contains(input); };
      if (std::none_of(waiting[i].inputs.begin(), waiting[i].inputs.end(), missing)) ready.push_back(i);
    }
    const std::size_t chosen = ready[random() % ready.size()];
    for (const std::string& output : waiting[chosen].outputs) made.erase(output);
    graph.nodes.push_back(std::move(waiting[chosen]));
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return graph;
}

}  // namespace halftone::test
