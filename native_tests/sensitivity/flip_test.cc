#include <cmath>
#include <limits>

#include "halftone/mixed_precision.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const Precision kAllInt16{NumberFormat::kInt16, NumberFormat::kInt16, false};
const Precision kAllFloat{NumberFormat::kFloat32, NumberFormat::kFloat32, false};

std::vector<ScoredSite> rows(const std::vector<std::pair<std::string, double>>& scores) {
  std::vector<ScoredSite> list;
  for (const auto& [name, score] : scores) {
    ScoredSite row;
    row.name = name;
    row.score = score;
    row.order = static_cast<std::int64_t>(list.size());
    list.push_back(row);
  }
  return list;
}

SensitivityResults results_by(std::string by, const std::vector<std::pair<std::string, double>>& scores) {
  SensitivityResults results;
  results.ranking = rows(scores);
  results.by = std::move(by);
  results.metric = "psnr";
  results.sweep = "enable";
  return results;
}

Encodings encodings_of(const Model& model, Plan& plan) {
  Encodings encodings;
  float reach = 1.0F;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    Result<Encoding> encoding = activation_encoding(site, {-reach, 2 * reach});
    REQUIRE(encoding.ok());
    encodings.set(site.tensor, std::move(encoding).value());
    reach += 1.0F;
  }
  REQUIRE(complete_encodings(model, plan, encodings).ok());
  return encodings;
}

FlippedPlan flipped(const Model& model, const Plan& plan, const std::vector<std::string>& tensors,
                    const Precision& to) {
  Result<FlippedPlan> result = flip_sites(model, plan, tensors, to);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  CHECK(check_plan(model, result.value().plan).ok());
  return std::move(result).value();
}

std::vector<std::string> flipped_rows(const SensitivityResults& results, const FlipChoice& choice,
                                      const Precision& to = kAllInt16) {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  const Encodings encodings = encodings_of(*model, plan);
  Result<FlippedPlan> result = flip_rows(*model, plan, encodings, results, choice, to);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  return result.value().flipped;
}

Error refused(const SensitivityResults& results, const FlipChoice& choice, const Precision& to = kAllInt16) {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  const Encodings encodings = encodings_of(*model, plan);
  const Result<FlippedPlan> result = flip_rows(*model, plan, encodings, results, choice, to);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(result.error().next.empty());
  return result.error();
}

bool warns(const std::vector<Warning>& warnings, std::string_view code, std::string_view part = "") {
  for (const Warning& warning : warnings) {
    if (warning.code == code && warning.message.find(part) != std::string::npos) return true;
  }
  return false;
}

FlipChoice percent(double value) {
  FlipChoice choice;
  choice.percent = value;
  return choice;
}

FlipChoice worst(double value) {
  FlipChoice choice;
  choice.worst = value;
  return choice;
}

FlipChoice beyond(double value) {
  FlipChoice choice;
  choice.threshold = value;
  return choice;
}

FlipChoice named(std::vector<std::string> names) {
  FlipChoice choice;
  choice.names = std::move(names);
  return choice;
}

}  // namespace

TEST_CASE("Counts of rows to flip are lite_mp's", "[mixed]") {
  struct Vector {
    std::size_t rows;
    double percent;
    std::size_t flipped;
  };
  const Vector vectors[] = {{10, 10, 1}, {7, 10, 1},  {1, 10, 1}, {3, 33.4, 2}, {20, 5, 1},   {5, 50.2, 3},
                            {30, 10, 3}, {29, 10, 3}, {0, 10, 0}, {10, 0, 0},   {10, 150, 10}};
  for (const Vector& vector : vectors) {
    std::vector<std::pair<std::string, double>> scores;
    for (std::size_t i = 0; i < vector.rows; ++i)
      scores.emplace_back("n" + std::to_string(i), static_cast<double>(i));
    INFO(vector.rows << " rows, " << vector.percent << " %");
    const auto chosen = rows_to_flip(rows(scores), false, percent(vector.percent));
    REQUIRE(chosen.ok());
    CHECK(chosen.value().size() == vector.flipped);
  }
}

TEST_CASE("The ranking's direction decides which rows are worst", "[mixed]") {
  const std::vector<ScoredSite> ranking = rows({{"a", 3.0}, {"b", 1.0}, {"c", kNaN}, {"d", 3.0}, {"e", 2.0}});
  using Names = std::vector<std::string>;
  CHECK(rows_to_flip(ranking, false, worst(3)).value() == Names{"c", "b", "e"});
  CHECK(rows_to_flip(ranking, true, worst(3)).value() == Names{"c", "a", "d"});
  CHECK(rows_to_flip(ranking, false, worst(9)).value().size() == 5);
  CHECK(rows_to_flip(ranking, false, worst(0)).value().empty());
  // Strictly worse than the threshold, and what isn't a number.
  CHECK(rows_to_flip(ranking, false, beyond(2.0)).value() == Names{"c", "b"});
  CHECK(rows_to_flip(ranking, true, beyond(2.0)).value() == Names{"c", "a", "d"});
  CHECK(rows_to_flip(ranking, true, named({"e", "a"})).value() == Names{"e", "a"});
}

TEST_CASE("Choices that make no sense are refused", "[mixed]") {
  const std::vector<ScoredSite> ranking = rows({{"a", 3.0}});
  for (const FlipChoice& choice : {FlipChoice{}, percent(-1), percent(kNaN), worst(-1), worst(1.5),
                                   worst(kNaN), beyond(kNaN), named({"a", "z"})}) {
    const auto chosen = rows_to_flip(ranking, false, choice);
    REQUIRE_FALSE(chosen.ok());
    CHECK(chosen.error().code == ErrorCode::kInvalidPolicy);
  }
  FlipChoice both = worst(1);
  both.percent = 10;
  CHECK_FALSE(rows_to_flip(ranking, false, both).ok());
  CHECK(rows_to_flip(ranking, false, named({"z"})).error().message.find("\"z\"") != std::string::npos);
  CHECK(precision_from_names("uint16", "channel").value().weights_per_channel);
  CHECK(precision_from_names("", "float32").value().weights == NumberFormat::kFloat32);
  CHECK_FALSE(precision_from_names("", "").ok());
  CHECK_FALSE(precision_from_names("int32", "").ok());
  CHECK_FALSE(precision_from_names("channel", "").ok());
  CHECK_FALSE(precision_from_names("", "fp12").ok());
}

TEST_CASE("Rows of a ranking by quantizer flip themselves", "[mixed]") {
  const SensitivityResults results = results_by("quantizer", {{"x", 30}, {"w1", 20}, {"t2", 40}, {"w2", 50}});
  using Names = std::vector<std::string>;
  CHECK(flipped_rows(results, worst(2)) == Names{"x", "w1"});
  CHECK(flipped_rows(results, worst(2), {std::nullopt, NumberFormat::kInt16, false}) == Names{"w1"});
  CHECK(flipped_rows(results, beyond(45)) == Names{"x", "w1", "t2"});
  // A sweep that disables: what scores best when it is off hurts most.
  SensitivityResults disabled = results;
  disabled.sweep = "disable";
  CHECK(flipped_rows(disabled, worst(1)) == Names{"w2"});
  SensitivityResults by_error = results;
  by_error.metric = "mse";
  by_error.higher_is_worse = true;
  CHECK(flipped_rows(by_error, worst(1)) == Names{"w2"});
}

TEST_CASE("Rows by node flip parameters and what has no producer or is made, not what others made",
          "[mixed]") {
  const SensitivityResults results = results_by("layer", {{"first", 20}, {"relu", 30}, {"second", 40}});
  using Names = std::vector<std::string>;
  CHECK(flipped_rows(results, named({"first"})) == Names{"x", "w1"});
  CHECK(flipped_rows(results, named({"relu"})) == Names{"t2"});
  CHECK(flipped_rows(results, named({"second"})) == Names{"w2"});
  CHECK(flipped_rows(results, percent(34)) == Names{"x", "w1", "t2"});
  CHECK(flipped_rows(results_by("operator", {{"Conv", 20}}), worst(1)) == Names{"x", "w1", "w2"});
  CHECK(flipped_rows(results_by("re:^(w)", {{"w", 20}}), worst(1)) == Names{"w1", "w2"});
}

TEST_CASE("Foreign keys and wrong directions are refused by name", "[mixed]") {
  CHECK(refused(results_by("quantizer", {{"gone", 1}}), worst(1)).message.find("\"gone\"") !=
        std::string::npos);
  CHECK(refused(results_by("quantizer", {{"b1", 1}}), worst(1)).message.find("\"b1\"") != std::string::npos);
  CHECK(refused(results_by("layer", {{"gone", 1}}), worst(1)).message.find("\"gone\"") != std::string::npos);
  CHECK(refused(results_by("operator", {{"Gemm", 1}}), worst(1)).message.find("\"Gemm\"") !=
        std::string::npos);
  CHECK(refused(results_by("function", {{"k", 1}}), worst(1)).message.find("function") != std::string::npos);
  SensitivityResults wrong = results_by("quantizer", {{"x", 1}});
  wrong.higher_is_worse = true;
  CHECK(refused(wrong, worst(1)).message.find("not so for psnr") != std::string::npos);
  const SensitivityResults fine = results_by("quantizer", {{"x", 1}});
  CHECK(refused(fine, worst(1), {NumberFormat::kFloat8E4M3Fn, std::nullopt, false}).message.find("float8") !=
        std::string::npos);
  CHECK(refused(results_by("quantizer", {{"w1", 1}}), worst(1),
                {std::nullopt, NumberFormat::kFloat8E5M2, false})
            .message.find("can't store weights as float8e5m2") != std::string::npos);
  CHECK(refused(fine, worst(1), {NumberFormat::kInt4, std::nullopt, false}).message.find("int4") !=
        std::string::npos);
  CHECK(refused(results_by("quantizer", {{"w1", 1}}), worst(1), {std::nullopt, NumberFormat::kInt4, false})
            .message.find("lower precision") != std::string::npos);
}

TEST_CASE("AIMET's files say no direction: that is said, and keys are tensors or nodes", "[mixed]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  const Encodings encodings = encodings_of(*model, plan);
  for (const auto& [key, tensors] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"w1", {"w1"}}, {"first", {"x", "w1"}}}) {
    SensitivityResults results;
    results.ranking = rows({{key, 20}, {"second", 40}});
    const Result<FlippedPlan> result = flip_rows(*model, plan, encodings, results, worst(1), kAllInt16);
    REQUIRE(result.ok());
    CHECK(result.value().flipped == tensors);
    CHECK(warns(result.value().warnings, "direction_presumed"));
  }
}

TEST_CASE("A flip keeps a plan consistent: inputs, biases, opset", "[mixed]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  const Plan before = plan_of(*model);
  const FlippedPlan wide = flipped(*model, before, {"x", "w2"}, kAllInt16);
  CHECK(site_of(wide.plan, "x").format == NumberFormat::kInt16);
  CHECK(site_of(wide.plan, "x").rule == "flipped");
  CHECK(site_of(wide.plan, "t2").format == NumberFormat::kUint8);
  CHECK(site_of(wide.plan, "b1").quantized);
  CHECK(input_of(wide.plan, "first", 0).rule == "flipped");
  CHECK(input_of(wide.plan, "first", 0).quantized);
  CHECK(input_of(wide.plan, "second", 0).rule == before.find("t2")->rule);
  CHECK(before.opset_needed == 13);
  CHECK(wide.plan.opset_needed == 21);
  CHECK(warns(wide.warnings, "opset_raised", "needs 21"));
  CHECK(warns(wide.warnings, "no_fused_kernel", "Conv \"first\", Conv \"second\""));

  const FlippedPlan off = flipped(*model, before, {"w1"}, kAllFloat);
  CHECK_FALSE(site_of(off.plan, "w1").quantized);
  CHECK_FALSE(input_of(off.plan, "first", 1).quantized);
  CHECK_FALSE(site_of(off.plan, "b1").quantized);  // it has no scale without its weight's
  CHECK_FALSE(input_of(off.plan, "first", 2).quantized);
  CHECK(site_of(off.plan, "b2").quantized);
  CHECK(off.flipped == std::vector<std::string>{"w1"});
  CHECK(warns(off.warnings, "mixed_operands", "Conv \"first\""));

  // Quantizers that are off get the format and stay off, as in lite_mp.
  const FlippedPlan again = flipped(*model, off.plan, {"w1"}, kAllInt16);
  CHECK_FALSE(site_of(again.plan, "w1").quantized);
  CHECK(site_of(again.plan, "w1").format == NumberFormat::kInt16);
  CHECK(again.flipped.empty());
}

TEST_CASE("A flip to per-channel scales follows the target, and says where it can't", "[mixed]") {
  PlanOptions options;
  options.per_channel = false;
  const std::shared_ptr<const Model> model = two_convs().open();
  const Plan before = plan_of(*model, options);
  const Precision channel{std::nullopt, std::nullopt, true};
  const FlippedPlan result = flipped(*model, before, {"x", "w1"}, channel);
  CHECK(result.flipped == std::vector<std::string>{"w1"});
  CHECK(site_of(result.plan, "w1").granularity == Granularity::kChannel);
  CHECK(site_of(result.plan, "w1").axis == 0);
  CHECK(site_of(result.plan, "b1").granularity == Granularity::kChannel);
  CHECK(site_of(result.plan, "b2").granularity == Granularity::kTensor);

  ModelBuilder batched;
  batched.input("x", {2, 3, 4}).random_floats("w", {2, 4, 5}, 1).node("MatMul", {"x", "w"}, {"y"});
  const std::shared_ptr<const Model> refuses = batched.output("y", {2, 3, 5}).open();
  const FlippedPlan kept = flipped(*refuses, plan_of(*refuses, options), {"w"}, channel);
  CHECK(kept.flipped.empty());
  CHECK(warns(kept.warnings, "stays_per_tensor", "\"w\""));
}

TEST_CASE("Target tensorrt flips to float only, and warns of half a node", "[mixed]") {
  PlanOptions options;
  options.target = Target::kTensorRT;
  options.dla = true;  // no speed rules, which leave so small a model alone
  const std::shared_ptr<const Model> model = two_convs().open();
  const Plan plan = plan_of(*model, options);
  const std::vector<std::string> tensors = {"w1"};
  CHECK_FALSE(flip_sites(*model, plan, tensors, kAllInt16).ok());
  const FlippedPlan half = flipped(*model, plan, {"w1"}, kAllFloat);
  CHECK(warns(half.warnings, "mixed_operands", "TensorRT"));
  const FlippedPlan whole = flipped(*model, plan, {"x", "w1"}, kAllFloat);
  CHECK_FALSE(warns(whole.warnings, "mixed_operands"));
}

TEST_CASE("Target aimet: what HTP rejects is named, operators that move values pass precisions on",
          "[mixed]") {
  ModelBuilder builder;
  builder.input("x", {1, 4, 8, 8}).random_floats("w1", {6, 4, 3, 3}, 1).random_floats("w2", {5, 6, 1, 1}, 2);
  builder.node("Conv", {"x", "w1"}, {"t1"}, "first")
      .node("Relu", {"t1"}, {"t2"}, "relu")
      .node("MaxPool", {"t2"}, {"t3"}, "pool", {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})
      .node("Conv", {"t3", "w2"}, {"y"}, "second");
  const std::shared_ptr<const Model> model = builder.output("y", {1, 5, 5, 5}).open();
  PlanOptions options;
  options.target = Target::kAimet;
  const Plan plan = plan_of(*model, options);
  REQUIRE(site_of(plan, "t2").quantized);
  REQUIRE_FALSE(site_of(plan, "t3").quantized);
  const std::uint64_t first = 6 * 6 * 6 * (4 * 3 * 3);
  const std::uint64_t second = 5 * 5 * 5 * 6;
  CHECK(model_cost(*model, plan).bit_ops == (first + second) * 8 * 8);

  // 16-bit activations with 8-bit weights are fine, also behind the MaxPool.
  const FlippedPlan wide = flipped(*model, plan, {"t2"}, {NumberFormat::kInt16, std::nullopt, false});
  CHECK_FALSE(warns(wide.warnings, "mixed_operands"));
  CHECK(model_cost(*model, wide.plan).bit_ops == first * 8 * 8 + second * 16 * 8);
  const FlippedPlan half = flipped(*model, plan, {"t2"}, kAllFloat);
  CHECK(warns(half.warnings, "mixed_operands", "Conv \"second\" would read one operand as float"));
  CHECK(model_cost(*model, half.plan).bit_ops == first * 8 * 8 + second * 32 * 8);
  const FlippedPlan both = flipped(*model, half.plan, {"w2"}, kAllFloat);
  CHECK_FALSE(warns(both.warnings, "mixed_operands"));
  CHECK(model_cost(*model, both.plan).bit_ops == first * 8 * 8 + second * 32 * 32);
  const FlippedPlan heavy = flipped(*model, plan, {"w1"}, {std::nullopt, NumberFormat::kInt16, false});
  CHECK(warns(heavy.warnings, "mixed_operands", "Conv \"first\" would read weights of more bits"));
}

TEST_CASE("Target aimet: the weight of a LayerNormalization is symmetric from 16 bits on", "[mixed]") {
  ModelBuilder builder;
  builder.input("x", {2, 4}).random_floats("g", {4}, 1).random_floats("b", {4}, 2);
  builder.node("LayerNormalization", {"x", "g", "b"}, {"y"}, "norm");
  const std::shared_ptr<const Model> model = builder.output("y", {2, 4}).open();
  PlanOptions options;
  options.target = Target::kAimet;
  const Plan plan = plan_of(*model, options);
  REQUIRE(site_of(plan, "g").quantized);
  CHECK_FALSE(site_of(plan, "g").symmetric);
  CHECK(site_of(flipped(*model, plan, {"g"}, kAllInt16).plan, "g").symmetric);
}

TEST_CASE("Members of a scale group change together, except to float", "[mixed]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  for (Site& site : plan.sites) {
    if (site.role == Role::kActivation) site.scale_group = "g";
  }
  CHECK(flipped(*model, plan, {"x"}, kAllInt16).flipped == std::vector<std::string>{"x", "t2"});
  CHECK(flipped(*model, plan, {"x"}, kAllFloat).flipped == std::vector<std::string>{"x"});

  Encodings encodings = encodings_of(*model, plan);
  FlippedPlan wide = flipped(*model, plan, {"x"}, kAllInt16);
  REQUIRE(recode(*model, wide.plan, encodings).ok());
  // The union of [-1, 2] and [-2, 4], over 65535 steps.
  CHECK(encodings.find("x")->scale == std::vector<float>{static_cast<float>(6.0 / 65535.0)});
  CHECK(encodings.find("t2")->scale == encodings.find("x")->scale);
  CHECK(encodings.find("x")->min == std::vector<float>{-1.0F});
}

TEST_CASE("Encodings are made again from the ranges that the old ones hold", "[mixed]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan before = plan_of(*model);
  const Encodings old = encodings_of(*model, before);
  FlippedPlan wide = flipped(*model, before, {"x", "w2"}, kAllInt16);
  Encodings encodings = old;
  REQUIRE(recode(*model, wide.plan, encodings).ok());
  Plan fresh_plan = wide.plan;
  const Encodings fresh = encodings_of(*model, fresh_plan);  // as a new calibration would
  REQUIRE(encodings.all().size() == fresh.all().size());
  for (std::size_t i = 0; i < fresh.all().size(); ++i) {
    const auto& [tensor, encoding] = encodings.all()[i];
    INFO(tensor);
    CHECK(tensor == fresh.all()[i].first);
    CHECK(encoding.format == fresh.all()[i].second.format);
    CHECK(encoding.scale == fresh.all()[i].second.scale);
    CHECK(encoding.zero_point == fresh.all()[i].second.zero_point);
  }
  CHECK(encodings.find("x")->scale[0] == static_cast<float>(3.0 / 65535.0));
  CHECK(encodings.find("b1")->scale[0] == encodings.find("x")->scale[0] * old.find("w1")->scale[0]);

  // An edited encoding has no range but what its codes reach.
  Encodings edited = old;
  edited.set("x", {NumberFormat::kUint8, -1, {0.5F}, {10}, {}, {}});
  REQUIRE(recode(*model, wide.plan, edited).ok());
  CHECK(edited.find("x")->min == std::vector<float>{-5.0F});
  CHECK(edited.find("x")->max == std::vector<float>{122.5F});

  FlippedPlan off = flipped(*model, before, {"x"}, kAllFloat);
  Encodings fewer = old;
  REQUIRE(recode(*model, off.plan, fewer).ok());
  CHECK(fewer.find("x") == nullptr);
  CHECK(fewer.find("b1") == nullptr);
  CHECK(old.find("x")->format == NumberFormat::kUint8);
}

TEST_CASE("The predicted score adds errors up", "[mixed]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan before = plan_of(*model);
  const Encodings old = encodings_of(*model, before);
  const std::vector<ScoredSite> ranking = rows({{"x", 40}, {"w1", 30}, {"t2", 40}, {"w2", 50}});
  const auto sum = [](std::initializer_list<double> noises) {
    double total = 0;
    for (const double noise : noises) total += noise;
    return -10 * std::log10(total);
  };
  CHECK(std::abs(*predicted_score(ranking, before, old, before, old) - sum({1e-4, 1e-3, 1e-4, 1e-5})) < 1e-9);

  FlippedPlan off = flipped(*model, before, {"w1"}, kAllFloat);
  Encodings fewer = old;
  REQUIRE(recode(*model, off.plan, fewer).ok());
  CHECK(std::abs(*predicted_score(ranking, before, old, off.plan, fewer) - sum({1e-4, 1e-4, 1e-5})) < 1e-9);

  FlippedPlan wide = flipped(*model, before, {"x"}, kAllInt16);
  Encodings finer = old;
  REQUIRE(recode(*model, wide.plan, finer).ok());
  // 255 steps become 65535: the error shrinks by 257 squared. The scales are rounded to float32.
  const double expected = sum({1e-4 / (257.0 * 257.0), 1e-3, 1e-4, 1e-5});
  CHECK(std::abs(*predicted_score(ranking, before, old, wide.plan, finer) - expected) < 1e-6);

  CHECK_FALSE(predicted_score(rows({{"x", 40}}), before, old, wide.plan, finer).has_value());
  CHECK_FALSE(
      predicted_score(rows({{"x", kNaN}, {"w1", 30}, {"t2", 40}, {"w2", 50}}), before, old, wide.plan, finer)
          .has_value());
}

}  // namespace halftone::test
