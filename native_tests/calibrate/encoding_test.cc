#include <limits>

#include "halftone/encoding.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

Site activation_site(NumberFormat format, bool symmetric = false) {
  Site site;
  site.tensor = "t";
  site.quantized = true;
  site.format = format;
  site.symmetric = symmetric;
  return site;
}

Encoding encoded(const Site& site, const MinMax& range) {
  const Result<Encoding> encoding = activation_encoding(site, range);
  INFO((encoding.ok() ? "" : encoding.error().message));
  REQUIRE(encoding.ok());
  CHECK(encoding.value().axis == -1);
  CHECK(encoding.value().format == site.format);
  REQUIRE(encoding.value().scale.size() == 1);
  REQUIRE(encoding.value().zero_point.size() == 1);
  CHECK(encoding.value().min == std::vector<float>{range.min});
  CHECK(encoding.value().max == std::vector<float>{range.max});
  return encoding.value();
}

ModelBuilder one_gemm(const std::vector<float>& weights, const std::vector<float>& bias) {
  const auto columns = static_cast<std::int64_t>(bias.size());
  const auto rows = static_cast<std::int64_t>(weights.size()) / columns;
  ModelBuilder builder;
  builder.input("x", {1, rows}).floats("w", {rows, columns}, weights).floats("b", {columns}, bias);
  builder.node("Gemm", {"x", "w", "b"}, {"y"}, "gemm").output("y", {1, columns});
  return builder;
}

}  // namespace

TEST_CASE("Activation scales are those of onnxruntime's tool", "[calibrate]") {
  // The cast scale would give zero point 127 here; the double one gives -0.5, to even 0, so 128 - see the
  // spec.
  CHECK(encoded(activation_site(NumberFormat::kUint8), {-1.0F, 1.0F}).zero_point[0] == 128);
  CHECK(encoded(activation_site(NumberFormat::kUint8), {-1.0F, 1.0F}).scale[0] ==
        static_cast<float>(2.0 / 255.0));
  // The range always includes 0.
  const Encoding above = encoded(activation_site(NumberFormat::kUint8), {2.0F, 5.1F});
  CHECK(above.zero_point[0] == 0);
  CHECK(above.scale[0] == static_cast<float>(static_cast<double>(5.1F) / 255.0));
  const Encoding below = encoded(activation_site(NumberFormat::kInt8), {-4.0F, -1.0F});
  CHECK(below.zero_point[0] == 127);
  const Encoding symmetric = encoded(activation_site(NumberFormat::kInt8, true), {-1.0F, 2.0F});
  CHECK(symmetric.zero_point[0] == 0);
  CHECK(symmetric.scale[0] == static_cast<float>(4.0 / 254.0));
  CHECK(encoded(activation_site(NumberFormat::kUint8, true), {-1.0F, 2.0F}).zero_point[0] == 127);
  CHECK(encoded(activation_site(NumberFormat::kInt16), {-1.0F, 1.0F}).scale[0] ==
        static_cast<float>(2.0 / 65535.0));
  // A tensor of zeros.
  const Encoding zeros = encoded(activation_site(NumberFormat::kUint8), {0.0F, 0.0F});
  CHECK(zeros.scale[0] == 1.0F);
  CHECK(zeros.zero_point[0] == 0);
}

TEST_CASE("A range that isn't one is refused by tensor", "[calibrate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const MinMax range :
       {MinMax{}, MinMax{-1.0F, infinity}, MinMax{-infinity, 1.0F}, MinMax{nan, 1.0F}, MinMax{0.0F, nan}}) {
    const Result<Encoding> encoding = activation_encoding(activation_site(NumberFormat::kUint8), range);
    REQUIRE_FALSE(encoding.ok());
    CHECK(encoding.error().code == ErrorCode::kNonFinite);
    CHECK(encoding.error().where == "t");
  }
}

TEST_CASE("Weight scales come from the weight, channel by channel", "[calibrate]") {
  // Columns: (1, -2), (0, 0), (-0.5, 0.25).
  const std::shared_ptr<const Model> model =
      one_gemm({1.0F, 0.0F, -0.5F, -2.0F, 0.0F, 0.25F}, {0, 0, 0}).open();
  const Plan plan = plan_of(*model);
  Site site = site_of(plan, "w");
  const auto scales = [&] {
    const Result<Encoding> encoding = weight_encoding(*model, site);
    INFO((encoding.ok() ? "" : encoding.error().message));
    REQUIRE(encoding.ok());
    CHECK(encoding.value().zero_point.size() == encoding.value().scale.size());
    return encoding.value();
  };
  const Encoding per_channel = scales();
  CHECK(per_channel.axis == 1);
  CHECK(per_channel.scale ==
        std::vector<float>{static_cast<float>(4.0 / 254.0), 1.0F, static_cast<float>(1.0 / 254.0)});
  CHECK(per_channel.zero_point == std::vector<std::int32_t>{0, 0, 0});
  CHECK(per_channel.min == std::vector<float>{-2.0F, 0.0F, -0.5F});
  CHECK(per_channel.max == std::vector<float>{1.0F, 0.0F, 0.25F});
  site.granularity = Granularity::kTensor;
  site.axis = -1;
  CHECK(scales().scale == std::vector<float>{static_cast<float>(4.0 / 254.0)});
  site.symmetric = false;
  site.format = NumberFormat::kUint8;
  CHECK(scales().scale == std::vector<float>{static_cast<float>(3.0 / 255.0)});
  CHECK(scales().zero_point == std::vector<std::int32_t>{170});
  site.format = NumberFormat::kInt4;
  site.symmetric = true;
  CHECK(scales().scale == std::vector<float>{static_cast<float>(4.0 / 15.0)});

  site.granularity = Granularity::kChannel;
  site.axis = 1;
  site.format = NumberFormat::kFloat8E4M3Fn;
  CHECK(scales().scale == std::vector<float>{2.0F / 448.0F, 1.0F, 0.5F / 448.0F});
  CHECK(scales().zero_point == std::vector<std::int32_t>{0, 0, 0});
  const auto as_peer = [](double magnitude) {
    const auto int8_scale = static_cast<float>(2.0 * magnitude / 254.0);
    return int8_scale * 448.0F / 127.0F;
  };
  CHECK(weight_encoding(*model, site, Float8Scale::kModelOpt).value().scale ==
        std::vector<float>{as_peer(2.0), 448.0F / 127.0F, as_peer(0.5)});

  site.axis = 2;
  site.format = NumberFormat::kInt4;
  const Result<Encoding> wrong_axis = weight_encoding(*model, site);
  REQUIRE_FALSE(wrong_axis.ok());
  CHECK(wrong_axis.error().code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("A weight with NaN or infinity is refused with the element", "[calibrate]") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    const std::shared_ptr<const Model> model = one_gemm({1, 2, 3, 4, bad, 6}, {0, 0, 0}).open();
    Site site = site_of(plan_of(*model), "w");
    for (const std::int32_t axis : {1, 0, -1}) {
      site.axis = axis;
      site.granularity = axis < 0 ? Granularity::kTensor : Granularity::kChannel;
      const Result<Encoding> encoding = weight_encoding(*model, site);
      REQUIRE_FALSE(encoding.ok());
      CHECK(encoding.error().code == ErrorCode::kNonFinite);
      CHECK(encoding.error().where == "w");
      CHECK(encoding.error().message.find("element 4.") != std::string::npos);
    }
  }
}

TEST_CASE("A bias is encoded at the product of its scales", "[calibrate]") {
  const std::shared_ptr<const Model> model = one_gemm({1, 2, 3, 4}, {0.5F, -1.0F}).open();
  Plan plan = plan_of(*model);
  Encodings encodings;
  const Result<Encoding> early = bias_encoding(*model, site_of(plan, "b"), encodings);
  REQUIRE_FALSE(early.ok());
  CHECK(early.error().code == ErrorCode::kInvalidState);
  CHECK_FALSE(complete_encodings(*model, plan, encodings).ok());
  encodings.set("x", encoded(site_of(plan, "x"), {0.0F, 10.0F}));
  REQUIRE(complete_encodings(*model, plan, encodings).ok());
  REQUIRE(encodings.all().size() == 3);
  CHECK(encodings.all()[0].first == "x");
  CHECK(encodings.all()[1].first == "w");
  CHECK(encodings.all()[2].first == "b");
  const Encoding& bias = *encodings.find("b");
  CHECK(bias.format == NumberFormat::kInt32);
  CHECK(bias.axis == 0);
  CHECK(bias.min.empty());
  CHECK(bias.max.empty());
  CHECK(bias.zero_point == std::vector<std::int32_t>{0, 0});
  const float x_scale = encodings.find("x")->scale[0];
  for (std::size_t channel = 0; channel < 2; ++channel) {
    CHECK(bias.scale[channel] == x_scale * encodings.find("w")->scale[channel]);
  }
}

TEST_CASE("A bias that passes int32 goes back to float, in sites and inputs", "[calibrate]") {
  const std::shared_ptr<const Model> model = one_gemm({1e-9F, 1e-9F, 2e-9F, 1e-9F}, {5.0F, 0.0F}).open();
  Plan plan = plan_of(*model);
  CHECK(site_of(plan, "b").quantized);
  Encodings encodings;
  encodings.set("x", encoded(site_of(plan, "x"), {0.0F, 1.0F}));
  const Site before = site_of(plan, "b");
  REQUIRE(complete_encodings(*model, plan, encodings).ok());
  CHECK_FALSE(site_of(plan, "b").quantized);
  CHECK(site_of(plan, "b").rule == "bias_overflow");
  CHECK(site_of(plan, "b").why.find("float") != std::string::npos);
  CHECK_FALSE(input_of(plan, "gemm", 2).quantized);
  CHECK(input_of(plan, "gemm", 2).rule == "bias_overflow");
  CHECK(input_of(plan, "gemm", 1).quantized);
  CHECK(encodings.find("b") == nullptr);
  const Result<Encoding> alone = bias_encoding(*model, before, encodings);
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Encodings keep the place of a name and find it", "[calibrate]") {
  Encodings encodings;
  CHECK(encodings.find("a") == nullptr);
  Encoding first;
  first.scale = {1.0F};
  encodings.set("a", first);
  encodings.set("b", first);
  first.scale = {2.0F};
  encodings.set("a", first);
  REQUIRE(encodings.all().size() == 2);
  CHECK(encodings.all()[0].first == "a");
  CHECK(encodings.find("a")->scale[0] == 2.0F);
  CHECK(encodings.find("b")->scale[0] == 1.0F);
}

}  // namespace halftone::test
