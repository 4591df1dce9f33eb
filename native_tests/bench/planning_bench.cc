// Whether planning for TensorRT is linear: time per node on chains and residual nets of 1,000, 10,000 and
// 100,000 nodes, against the time per node at 1,000; and whole plans that a careless port makes quadratic or
// exponential. Judged: a ratio of at most 2, and at most one second.
//
// Every figure of the first kind plans 100,000 nodes in all, a hundred nets of 1,000 or one of 100,000, with
// all models and results in memory, so that the caches favour no size: what grows is the algorithm's.
//
//   halftone_bench_planning_bench [--json] [--only TEXT]
//     --json   one object a line, as the project's benches print
//     --only   figures whose name contains TEXT
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "halftone/model.h"
#include "halftone/plan.h"
#include "model/wire.h"
#include "plan/tensorrt/policy.h"

namespace halftone {
namespace {

constexpr double kLargestRatio = 2.0;
constexpr double kMostSeconds = 1.0;
constexpr std::int64_t kChannels = 16;
constexpr std::size_t kSmallest = 1'000;
constexpr std::size_t kAllNodes = 100'000;
constexpr int kTurns = 7;

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A model of convolutions over one input, written node by node.
class NetWriter {
 public:
  // Returns the name of the new node's output.
  std::string node(std::string_view op, const std::vector<std::string>& inputs) {
    std::string output = "t" + std::to_string(nodes_);
    std::string text;
    for (const std::string& input : inputs) append_text_field(text, 1, input);
    append_text_field(text, 2, output);
    append_text_field(text, 3, "n" + std::to_string(nodes_));
    append_text_field(text, 4, op);
    if (op == "Concat") append_text_field(text, 5, axis_one());
    append_text_field(graph_, 1, text);
    ++nodes_;
    return output;
  }

  std::string conv(const std::string& input) {
    const std::string weight = "w" + std::to_string(nodes_);
    append_text_field(graph_, 5, weight_tensor(weight));
    return node("Conv", {input, weight});
  }

  [[nodiscard]] std::size_t nodes() const { return nodes_; }

  std::shared_ptr<const Model> open(const std::string& output) {
    append_text_field(graph_, 2, "net");
    append_text_field(graph_, 11, input_info());
    std::string info;
    append_text_field(info, 1, output);
    append_text_field(graph_, 12, info);
    std::string model;
    append_tag(model, 1, WireType::kVarint);
    append_varint(model, 8);  // IR version
    std::string opset;
    append_tag(opset, 2, WireType::kVarint);
    append_varint(opset, 17);
    append_text_field(model, 8, opset);
    append_text_field(model, 7, graph_);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(model.data());
    Result<std::shared_ptr<const Model>> opened = open_model({bytes, model.size()});
    if (opened.ok()) return opened.value();
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    return nullptr;
  }

 private:
  static std::string axis_one() {
    std::string attribute;
    append_text_field(attribute, 1, "axis");
    append_tag(attribute, 3, WireType::kVarint);
    append_varint(attribute, 1);
    append_tag(attribute, 20, WireType::kVarint);
    append_varint(attribute, 2);  // INT
    return attribute;
  }

  // One filter of 1 x 1 a channel, all zeros.
  static std::string weight_tensor(std::string_view name) {
    std::string tensor;
    for (const std::int64_t extent : {kChannels, kChannels, std::int64_t{1}, std::int64_t{1}}) {
      append_tag(tensor, 1, WireType::kVarint);
      append_varint(tensor, static_cast<std::uint64_t>(extent));
    }
    append_tag(tensor, 2, WireType::kVarint);
    append_varint(tensor, 1);  // float
    append_text_field(tensor, 8, name);
    append_text_field(tensor, 9, std::string(sizeof(float) * kChannels * kChannels, '\0'));
    return tensor;
  }

  static std::string input_info() {
    std::string shape;
    for (const std::int64_t extent : {std::int64_t{1}, kChannels, std::int64_t{8}, std::int64_t{8}}) {
      std::string dim;
      append_tag(dim, 1, WireType::kVarint);
      append_varint(dim, static_cast<std::uint64_t>(extent));
      append_text_field(shape, 1, dim);
    }
    std::string tensor;
    append_tag(tensor, 1, WireType::kVarint);
    append_varint(tensor, 1);
    append_text_field(tensor, 2, shape);
    std::string type;
    append_text_field(type, 1, tensor);
    std::string info;
    append_text_field(info, 1, "x");
    append_text_field(info, 2, type);
    return info;
  }

  std::string graph_;
  std::size_t nodes_ = 0;
};

// Conv, Relu, Conv, Relu, …
std::shared_ptr<const Model> chain(std::size_t nodes) {
  NetWriter net;
  std::string last = "x";
  while (net.nodes() < nodes) last = net.nodes() % 2 == 0 ? net.conv(last) : net.node("Relu", {last});
  return net.open(last);
}

// Blocks of Conv, Relu, Conv, Add of the block's input, Relu.
std::string residual_block(NetWriter& net, const std::string& input) {
  const std::string inner = net.conv(net.node("Relu", {net.conv(input)}));
  return net.node("Relu", {net.node("Add", {inner, input})});
}

std::shared_ptr<const Model> residual_net(std::size_t nodes) {
  NetWriter net;
  std::string last = net.conv("x");
  while (net.nodes() < nodes) last = residual_block(net, last);
  return net.open(last);
}

// Every block's input is added again at the very end, so that the branches of these Adds are long.
std::shared_ptr<const Model> dense_net(std::size_t nodes) {
  NetWriter net;
  std::vector<std::string> joints = {net.conv("x")};
  while (net.nodes() < nodes / 2) joints.push_back(net.node("Relu", {net.conv(joints.back())}));
  std::string last = joints.back();
  for (auto joint = joints.rbegin(); joint != joints.rend() && net.nodes() < nodes; ++joint)
    last = net.node("Add", {net.conv(last), *joint});
  return net.open(last);
}

std::shared_ptr<const Model> doubling_concats(std::size_t count) {
  NetWriter net;
  std::string last = net.conv("x");
  for (std::size_t i = 0; i < count; ++i) last = net.node("Concat", {last, last});
  return net.open(net.node("Relu", {last}));
}

// A result of planning that is kept until a run is over.
using Planned = std::variant<std::monostate, tensorrt::Policy, Plan>;
using Models = std::vector<std::shared_ptr<const Model>>;

Planned run_policy(const Model& model) {
  const tensorrt::PolicyGraph view(model.graph(), tensorrt::Peer::kCorrect);
  const tensorrt::TensorShapes shapes(model.graph(), {});
  return tensorrt::apply_policy(view, shapes, {}, std::vector<bool>(model.graph().nodes().size(), false));
}

Planned run_plan(const Model& model, const std::optional<std::string>& match) {
  PlanOptions options;
  options.target = Target::kTensorRT;
  options.match = match;
  Result<Plan> plan = make_plan(model, options);
  if (plan.ok()) return std::move(plan).value();
  std::fprintf(stderr, "%s\n", plan.error().message.c_str());
  return {};
}

struct Work {
  const char* name;
  std::function<Planned(const Model&)> run;
};

std::vector<Work> works() {
  return {{"policy", run_policy},
          {"plan", [](const Model& model) { return run_plan(model, std::nullopt); }},
          {"plan --match modelopt", [](const Model& model) { return run_plan(model, "modelopt"); }}};
}

class Report {
 public:
  Report(bool json, std::string_view only) : json_(json), only_(only) {}
  [[nodiscard]] bool wanted(const std::string& name) const { return name.find(only_) != std::string::npos; }
  [[nodiscard]] bool all_well() const { return all_well_; }

  void per_node(const std::string& name, double nanoseconds, double ratio) {
    const bool well = ratio <= kLargestRatio;
    all_well_ = all_well_ && well;
    if (json_) {
      std::printf(
          "{\"name\": \"%s\", \"value\": %.1f, \"unit\": \"ns/node\", \"ratio_to\": \"1000 nodes\", "
          "\"ratio\": %.3f}\n",
          name.c_str(), nanoseconds, ratio);
    } else {
      std::printf("%6.3f  %9.1f ns/node  %s%s\n", ratio, nanoseconds, name.c_str(), well ? "" : "  ABOVE 2");
    }
  }

  void whole(const std::string& name, double value) {
    const bool well = value <= kMostSeconds;
    all_well_ = all_well_ && well;
    if (json_) {
      std::printf(
          "{\"name\": \"%s\", \"value\": %.6f, \"unit\": \"s\", \"ratio_to\": null, \"ratio\": null}\n",
          name.c_str(), value);
    } else {
      std::printf("        %9.6f s        %s%s\n", value, name.c_str(), well ? "" : "  ABOVE 1 s");
    }
  }

 private:
  bool json_;
  std::string_view only_;
  bool all_well_ = true;
};

// Of all models, one after the other.
double run_seconds(const Models& models, const Work& work) {
  std::vector<Planned> results(models.size());
  return seconds([&] {
    for (std::size_t i = 0; i < models.size(); ++i) results[i] = work.run(*models[i]);
  });
}

// The sizes take turns, so that a machine that is busy for a while is so for all of them; best of all turns.
void measure_growth(const char* net, std::shared_ptr<const Model> (*make)(std::size_t), Report& report) {
  const std::vector<std::size_t> sizes = {kSmallest, 10 * kSmallest, kAllNodes};
  std::vector<Models> models(sizes.size());
  for (const Work& work : works()) {
    const std::string name = std::string(work.name) + ", " + net + " of ";
    if (!report.wanted(name)) continue;
    std::vector<double> best(sizes.size(), 1e30);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        while (models[i].size() < kAllNodes / sizes[i]) models[i].push_back(make(sizes[i]));
        if (models[i].back() == nullptr) return;
        best[i] = std::min(best[i], run_seconds(models[i], work) / static_cast<double>(kAllNodes));
      }
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
      report.per_node(name + std::to_string(sizes[i]) + " nodes", best[i] * 1e9, best[i] / best[0]);
  }
}

void measure_whole(const char* net, const std::shared_ptr<const Model>& model, Report& report) {
  if (model == nullptr) return;
  for (const Work& work : works()) {
    const std::string name = std::string(work.name) + ", " + net;
    if (!report.wanted(name)) continue;
    double best = 1e30;
    for (int turn = 0; turn < kTurns; ++turn) best = std::min(best, run_seconds({model}, work));
    report.whole(name, best);
  }
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  bool json = false;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--only TEXT]\n", argv[0]);
      return 2;
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  halftone::Report report(json, only);
  halftone::measure_growth("chain", halftone::chain, report);
  halftone::measure_growth("residual net", halftone::residual_net, report);
  halftone::measure_growth("densely added net", halftone::dense_net, report);
  constexpr std::size_t kNodesOfBlocks = 5'000 * 5;
  halftone::measure_whole("sixty Concat(t, t) in series", halftone::doubling_concats(60), report);
  halftone::measure_whole("residual net of 5,000 blocks", halftone::residual_net(kNodesOfBlocks), report);
  return report.all_well() ? 0 : 1;
}
