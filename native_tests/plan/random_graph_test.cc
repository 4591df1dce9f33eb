// Properties that hold for every graph, on thousands of random ones. The seed of a failing graph is in the
// message: random_graph(seed) makes it again.
#include <catch2/catch_all.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "halftone/rewrite.h"
#include "halftone/writer.h"
#include "plan/plan_cases.h"
#include "plan/qdq_removal.h"
#include "support/random_graph.h"

namespace halftone::test {
namespace {

constexpr std::size_t kGraphs = 1500;
constexpr Target kTargets[] = {Target::kOnnxRuntime, Target::kTensorRT, Target::kAimet};

// Every way of asking that a target has, chosen by the graph's seed.
PlanOptions options_for(Target target, std::uint32_t seed) {
  PlanOptions options;
  options.target = target;
  options.per_channel = seed % 7 != 0;
  if (target == Target::kOnnxRuntime) {
    if (seed % 5 == 0) options.activations = NumberFormat::kInt8;
    return options;
  }
  if (target == Target::kAimet) {
    if (seed % 3 == 0) options.match = "aimet";
    if (seed % 5 == 0) options.activations = NumberFormat::kInt8;
    if (seed % 11 == 0) options.weights = NumberFormat::kInt16;
    return options;
  }
  if (seed % 4 == 0) options.weights = NumberFormat::kFloat8E4M3Fn;
  options.float_weights = seed % 3 == 0;
  options.concat_groups = seed % 11 != 0;
  options.raw_excluded = seed % 13 == 0;
  options.dla = seed % 17 == 0 && seed % 4 != 0;
  return options;
}

MinMax range_of(std::size_t site) {
  return {-0.5F - static_cast<float>(site % 5), 1.0F + static_cast<float>(site % 7)};
}

struct Outcome {
  std::shared_ptr<const Model> original;
  Plan plan;
  std::shared_ptr<const Model> quantized;  // written and opened again
};

std::shared_ptr<const Model> reopened(const std::shared_ptr<const Model>& model, bool quantized) {
  const Result<WrittenModel> file = write_model(model, {});
  REQUIRE(file.ok());
  Result<std::shared_ptr<const Model>> opened = open_model(file.value().model.flatten());
  INFO((opened.ok() ? "" : opened.error().message));
  REQUIRE(opened.ok());
  for (const Warning& warning : opened.value()->warnings()) {
    INFO(warning.code << ": " << warning.message);
    CHECK((quantized && warning.code != "checker_failed" && warning.code != "inference_failed"));
  }
  return std::move(opened).value();
}

Outcome quantized(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  Outcome outcome{model, plan_of(*model, options), nullptr};
  Encodings encodings;
  for (std::size_t i = 0; i < outcome.plan.sites.size(); ++i) {
    const Site& site = outcome.plan.sites[i];
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, range_of(i));
    REQUIRE(encoding.ok());
    encodings.set(site.tensor, encoding.value());
  }
  const Result<void> completed = complete_encodings(*model, outcome.plan, encodings);
  INFO((completed.ok() ? "" : completed.error().message));
  REQUIRE(completed.ok());
  const Result<QuantizedModel> result = insert_qdq(model, outcome.plan, encodings, {"minmax", 1, false});
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  outcome.quantized = reopened(result.value().model, true);
  return outcome;
}

std::shared_ptr<const Model> prepared(const Outcome& outcome) {
  if (outcome.original->graph().opset() >= outcome.plan.opset_needed) return outcome.original;
  const Result<std::shared_ptr<const Model>> raised = outcome.original->with_opset(outcome.plan.opset_needed);
  REQUIRE(raised.ok());
  return raised.value();
}

void check_nodes(const Outcome& outcome) {
  const std::shared_ptr<const Model> before = prepared(outcome);
  CHECK(outcome.quantized->graph().opset() == before->graph().opset());
  const std::vector<PlainNode> expected = plain_nodes(before->graph());
  const std::vector<PlainNode> got = nodes_without_qdq(*outcome.quantized, *before);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("wanted " << text_of(expected[i]) << "\n   got " << text_of(got[i]));
    REQUIRE(got[i] == expected[i]);
  }
  const auto names = [](const Graph& graph, std::span<const TensorId> ids) {
    std::vector<std::string> result;
    for (const TensorId id : ids) result.push_back(graph.tensor(id).name);
    return result;
  };
  const Graph& after = outcome.quantized->graph();
  CHECK(names(after, after.inputs()) == names(before->graph(), before->graph().inputs()));
  CHECK(names(after, after.outputs()) == names(before->graph(), before->graph().outputs()));
}

void check_refused(const Outcome& outcome, const PlanOptions& options) {
  const std::int64_t pairs = outcome.quantized->info().quantized_pairs;
  const Result<Plan> again = make_plan(*outcome.quantized, options);
  if (pairs == 0) return;
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == ErrorCode::kInvalidState);
  INFO(again.error().message);
  CHECK(again.error().message.find(std::to_string(pairs)) != std::string::npos);
}

using Pairs = std::set<std::pair<std::string, std::int32_t>>;

Pairs pairs_of(const Plan& plan) {
  Pairs pairs;
  for (const InputDecision& input : plan.inputs) {
    if (input.quantized) pairs.emplace(input.node, input.input);
  }
  return pairs;
}

// The inputs that read a DequantizeLinear are the plan's, to the last one.
void check_inputs(const Outcome& outcome) {
  const Graph& graph = outcome.quantized->graph();
  Pairs read;
  for (NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    const GraphNode& node = graph.node(id);
    if (node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear") continue;
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (node.inputs[input] == kNone) continue;
      const NodeId producer = graph.tensor(node.inputs[input]).producer;
      if (producer == kNone || graph.node(producer).op_type != "DequantizeLinear") continue;
      std::string label = graph.node_label(id);
      // A nameless node that makes an output of the model has another first output now.
      const std::string suffix = "_QuantizeLinear_Input";
      if (label.starts_with("@") && label.ends_with(suffix)) label.resize(label.size() - suffix.size());
      read.emplace(label, static_cast<std::int32_t>(input));
    }
  }
  CHECK(read == pairs_of(outcome.plan));
}

}  // namespace

TEST_CASE("Random graphs: pairs can be taken out again, and nothing else has changed", "[plan][random]") {
  const auto first = static_cast<std::uint32_t>(Catch::getSeed());
  std::size_t pairs = 0;
  std::size_t nodes = 0;
  std::size_t untouched = 0;
  for (const Target target : kTargets) {
    for (std::uint32_t i = 0; i < kGraphs; ++i) {
      const RandomGraph graph = random_graph(first + i);
      INFO(target_name(target) << ", random graph " << graph.seed);
      const PlanOptions options = options_for(target, graph.seed);
      const Outcome outcome = quantized(graph.builder().open(), options);
      check_nodes(outcome);
      check_inputs(outcome);
      check_refused(outcome, options);
      nodes += graph.nodes.size();
      pairs += static_cast<std::size_t>(outcome.quantized->info().quantized_pairs);
      untouched += outcome.quantized->info().quantized_pairs == 0 ? 1U : 0U;
    }
  }
  std::printf("random graphs from seed %u: %zu graphs, %zu nodes, %zu pairs, %zu graphs without any\n", first,
              std::size(kTargets) * kGraphs, nodes, pairs, untouched);
  CHECK(pairs > 4 * kGraphs);
}

namespace {

bool is_one_of(std::string_view rule, std::initializer_list<std::string_view> rules) {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

// An Add that heads a chain of pointwise operators, and one input of it raw in one order only: whether a
// branch is left raw depends on the heads accepted before (filter_quantizable_kgen_heads).
bool is_head_of_chain(const InputDecision& input, const InputDecision& twin) {
  const auto raw_head = [](const InputDecision& one) {
    return one.op == "Add" && is_one_of(one.rule, {"fused_branch", "skip_also_raw"}) &&
           one.partition.value_or("").starts_with("kgen:");
  };
  return raw_head(input) != raw_head(twin);
}

// An operator that joins two tensors, and belongs to a convolution's group in one order only: a group grows
// consumer by consumer, and what grew meanwhile isn't seen (_build_fusible_partition).
bool is_join_of_group(const Plan& plan, const InputDecision& input, const InputDecision& twin) {
  const auto in_group = [](const InputDecision& one) {
    return one.partition.value_or("").starts_with("cask:");
  };
  if (input.partition == twin.partition || !(in_group(input) || in_group(twin))) return false;
  std::set<std::string> joined;
  for (const InputDecision& other : plan.inputs) {
    const Site* site = other.node == input.node ? plan.find(other.tensor) : nullptr;
    if (site != nullptr && site->role == Role::kActivation) joined.insert(other.tensor);
  }
  return joined.size() >= 2;
}

// One of several attention patterns that start at the same MatMul: the first in the order of its consumers is
// found, the others aren't (find_nodes_from_mha_to_exclude, find_non_quantizable_partitions_from_patterns).
bool is_attention(const InputDecision& input, const InputDecision& twin) {
  const auto in_pattern = [](const InputDecision& one) {
    return one.rule.starts_with("attention") || one.rule == "off_limits";
  };
  return in_pattern(input) != in_pattern(twin);
}

// The rules of ModelOpt's that depend on node order, as far as they made a difference between two plans of
// the same graph: then its other decisions may follow, since all readers of a tensor share its pair.
std::set<std::string> order_rules_at_work(const Plan& plan, const Plan& other) {
  std::set<std::string> rules;
  for (const InputDecision& input : plan.inputs) {
    const InputDecision& twin = input_of(other, input.node, input.input);
    if (is_head_of_chain(input, twin)) rules.insert("heads of chains");
    if (is_join_of_group(plan, input, twin)) rules.insert("growth of groups");
    if (is_attention(input, twin)) rules.insert("attention patterns");
  }
  return rules;
}

// Which known rule explains that two plans of the same graph differ at this input; empty: none.
// Targets onnxruntime and aimet have one each: a bias that two nodes add at different scales is int32 for the
// first of them; a constant that is a weight here and a bias there is what its first reader makes of it.
std::set<std::string> known_reasons(const Plan& plan, const Plan& other, const InputDecision& at) {
  if (plan.target == Target::kTensorRT) return order_rules_at_work(plan, other);
  const std::string& second = input_of(other, at.node, at.input).rule;
  if (plan.target == Target::kAimet) {
    const bool roles = (at.rule == "parameter_off" && second.starts_with("weight_")) ||
                       (second == "parameter_off" && at.rule.starts_with("weight_"));
    return roles ? std::set<std::string>{"first readers"} : std::set<std::string>{};
  }
  const bool biases =
      is_one_of(at.rule, {"bias_int32", "bias_shared"}) && is_one_of(second, {"bias_int32", "bias_shared"});
  return biases ? std::set<std::string>{"shared biases"} : std::set<std::string>{};
}

}  // namespace

TEST_CASE("Random graphs: a plan doesn't depend on node order", "[plan][random]") {
  const auto first = static_cast<std::uint32_t>(Catch::getSeed());
  std::mt19937 random(first);
  for (const Target target : kTargets) {
    std::map<std::string, std::size_t> excused;  // rule -> graphs
    for (std::uint32_t i = 0; i < kGraphs; ++i) {
      const RandomGraph graph = random_graph(first + i);
      const PlanOptions options = options_for(target, graph.seed);
      const Plan plan = plan_of(*graph.builder().open(), options);
      const Plan other = plan_of(*shuffled(graph, random).builder().open(), options);
      INFO(target_name(target) << ", random graph " << graph.seed << ", run seed " << first);
      REQUIRE(plan.inputs.size() == other.inputs.size());
      const Pairs here = pairs_of(plan);
      const Pairs there = pairs_of(other);
      std::set<std::string> rules;
      for (const InputDecision& input : plan.inputs) {
        const std::pair pair(input.node, input.input);
        if (here.contains(pair) == there.contains(pair)) continue;
        INFO("input " << input.input << " of " << input.op << " " << input.node << ": " << input.rule << ", "
                      << input_of(other, input.node, input.input).rule);
        const std::set<std::string> reasons = known_reasons(plan, other, input);
        REQUIRE_FALSE(reasons.empty());
        rules.insert(reasons.begin(), reasons.end());
      }
      for (const std::string& rule : rules) ++excused[rule];
    }
    std::printf("random graphs from seed %u, shuffled, %s: %zu graphs", first,
                std::string(target_name(target)).c_str(), std::size_t{kGraphs});
    for (const auto& [rule, graphs] : excused) {
      std::printf(", %zu differ by the order of %s", graphs, rule.c_str());
      CHECK(graphs * 50 < kGraphs);  // about one in 200 was seen
    }
    std::printf("\n");
  }
}

// Not run by default: writes models for other programs to load, e.g. for a test in onnxruntime.
//   HALFTONE_RANDOM_MODELS=folder [HALFTONE_RANDOM_COUNT=n] halftone_tests --rng-seed 1 "[random_models]"
// The folder gets N.float.onnx and N.TARGET.onnx for seeds seed, seed + 1, ….
TEST_CASE("Random graphs: write models", "[.][random_models]") {
  const char* folder = std::getenv("HALFTONE_RANDOM_MODELS");
  const char* wanted = std::getenv("HALFTONE_RANDOM_COUNT");
  REQUIRE(folder != nullptr);
  const auto write = [&](const std::string& name, const std::shared_ptr<const Model>& model) {
    const Result<WrittenModel> file = write_model(model, {});
    REQUIRE(file.ok());
    const std::vector<std::uint8_t> bytes = file.value().model.flatten();
    std::ofstream out(std::string(folder) + "/" + name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.good());
  };
  const auto first = static_cast<std::uint32_t>(Catch::getSeed());
  const auto count = static_cast<std::uint32_t>(wanted == nullptr ? 100 : std::atoi(wanted));
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const std::shared_ptr<const Model> model = random_graph(seed).builder().open();
    INFO("random graph " << seed);
    write(std::to_string(seed) + ".float.onnx", model);
    for (const Target target : kTargets) {
      write(std::to_string(seed) + "." + std::string(target_name(target)) + ".onnx",
            quantized(model, options_for(target, seed)).quantized);
    }
  }
}

}  // namespace halftone::test
