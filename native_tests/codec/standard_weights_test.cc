// Encoded weights in the terms of standard ONNX: the same numbers.
#include "halftone/standard_weights.h"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "codec/encoded_cases.h"
#include "halftone/block_format.h"
#include "halftone/encoded_model.h"
#include "halftone/ort_matmul_nbits.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kColumns = 24;

struct Case {
  CodecProfile profile;
  std::uint64_t block_size;
  DataType type;  // of the codes
  std::optional<std::int64_t> axis;
  std::int64_t block;
  std::int64_t opset;
};

std::shared_ptr<const Model> matmul_model(bool other_reader = false) {
  ModelBuilder model;
  model.input("x", {2, kRows}).random_floats("W", {kRows, kColumns}, 5);
  model.node("MatMul", {"x", "W"}, {"y"}, "mm").output("y", {2, kColumns});
  if (other_reader) model.node("Neg", {"W"}, {"z"}).output("z", {kRows, kColumns});
  return model.open();
}

std::shared_ptr<const Model> encoded_model(const std::shared_ptr<const Model>& model, CodecProfile profile,
                                           std::uint64_t block_size, bool transpose = false) {
  EncodeWeightsOptions options;
  options.profile = profile;
  options.block_size = block_size;
  options.min_elements = 1;
  options.transpose_matmul_weights = transpose;
  Result<EncodedWeights> made = encode_weights(model, options);
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return made.value().model;
}

StandardWeights standard(const std::shared_ptr<const Model>& model, const StandardOptions& options) {
  Result<StandardWeights> made = to_standard(model, options);
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return std::move(made).value();
}

std::string reason(const std::shared_ptr<const Model>& model, const StandardOptions& options = {}) {
  const StandardWeights made = standard(model, options);
  CHECK(made.converted.empty());
  CHECK(made.model == model);
  REQUIRE(made.left.size() == 1);
  CHECK(made.left[0].reason.back() == '.');
  return made.left[0].reason;
}

ConstantTensor constant(const Model& model, TensorId id) {
  const Result<ConstantTensor> found = model.constant(id);
  REQUIRE(found.ok());
  return found.value();
}

// What a code of an ONNX type stands for.
float code_value(DataType type, std::span<const std::uint8_t> bytes, std::size_t i) {
  const unsigned nibble = bytes[i / 2] >> (i % 2 * 4) & 0xFU;
  const unsigned byte = bytes.size() > i ? bytes[i] : 0;
  switch (type) {
    case DataType::kInt4:
      return static_cast<float>(static_cast<int>(nibble ^ 8U) - 8);
    case DataType::kUint4:
      return static_cast<float>(nibble);
    case DataType::kFloat4E2M1:
      return small_float_values(SmallFloat::kFloat4E2M1)[nibble];
    case DataType::kInt8:
      return static_cast<float>(std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(byte)));
    case DataType::kUint8:
      return static_cast<float>(byte);
    default:
      REQUIRE(type == DataType::kFloat8E4M3FN);
      return small_float_values(SmallFloat::kFloat8E4M3Fn)[byte];
  }
}

// DequantizeLinear by its definition.
std::vector<float> dequantized(const Model& model, NodeId id) {
  const Graph& graph = model.graph();
  const GraphNode& node = graph.node(id);
  const ConstantTensor codes = constant(model, node.inputs[0]);
  const ConstantTensor scales = constant(model, node.inputs[1]);
  const std::int64_t axis = graph.int_attribute(id, "axis", 1);
  const std::int64_t block = graph.int_attribute(id, "block_size", 0);
  std::vector<float> values;
  const auto count = static_cast<std::size_t>(element_count(codes.dims).value());
  for (std::size_t flat = 0; flat < count; ++flat) {
    std::size_t scale = 0;
    std::size_t rest = flat;
    std::size_t behind = count;
    for (std::size_t d = 0; d < codes.dims.size(); ++d) {
      behind /= static_cast<std::size_t>(codes.dims[d]);
      const std::size_t at = rest / behind;
      rest %= behind;
      const bool here = static_cast<std::int64_t>(d) == axis;
      if (block != 0) {
        scale = scale * static_cast<std::size_t>(scales.dims[d]) +
                (here ? at / static_cast<std::size_t>(block) : at);
      } else if (!scales.dims.empty() && here) {
        scale = at;
      }
    }
    float zero = 0;
    if (node.inputs.size() > 2) {
      const ConstantTensor zeros = constant(model, node.inputs[2]);
      zero = code_value(zeros.type, zeros.bytes, scale);
    }
    float factor = 0;
    std::memcpy(&factor, scales.bytes.data() + scale * sizeof(float), sizeof(float));
    values.push_back((code_value(codes.type, codes.bytes, flat) - zero) * factor);
  }
  return values;
}

std::vector<float> as_floats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::int64_t ulps(float a, float b) {
  const auto key = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x == 0 ? 0.0F : x);
    return bits < 0 ? std::int64_t{INT32_MIN} - bits : std::int64_t{bits};
  };
  return std::abs(key(a) - key(b));
}

std::int64_t max_ulps(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, ulps(a[i], b[i]));
  return largest;
}

NodeId only_node(const Graph& graph, std::string_view op) {
  NodeId found = kNone;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].op_type != op) continue;
    REQUIRE(found == kNone);
    found = static_cast<NodeId>(i);
  }
  REQUIRE(found != kNone);
  return found;
}

std::vector<float> decoded_w(const std::shared_ptr<const Model>& model) {
  const EncodedModel listed(model);
  REQUIRE(listed.initializers().size() == 1);
  const Result<Bytes> values = listed.decode(listed.initializers()[0]);
  REQUIRE(values.ok());
  return as_floats(values.value());
}

}  // namespace

TEST_CASE("DequantizeLinear gives what the codec decodes, to 2 ulps where scales are rounded",
          "[codec][standard_weights]") {
  using enum CodecProfile;
  const Case c = GENERATE(
      Case{kInt4, 8, DataType::kInt4, 1, 8, 21}, Case{kInt4, 24, DataType::kInt4, 0, 0, 21},
      Case{kInt8, 12, DataType::kInt8, 1, 12, 21}, Case{kInt8, 24, DataType::kInt8, 0, 0, 17},
      Case{kInt8, 9999, DataType::kInt8, std::nullopt, 0, 17}, Case{kGptq, 8, DataType::kUint4, 1, 8, 21},
      Case{kQ2K, 8, DataType::kInt4, 1, 8, 21}, Case{kQ5K, 8, DataType::kInt8, 1, 8, 21},
      Case{kTernary, 6, DataType::kInt4, 1, 6, 21}, Case{kBinary, 8, DataType::kInt4, 1, 8, 21},
      Case{kIq4Nl, 8, DataType::kInt8, 1, 8, 21}, Case{kLog, 8, DataType::kFloat8E4M3FN, 1, 8, 21},
      Case{kMxfp4, 8, DataType::kFloat4E2M1, 1, 8, 23}, Case{kNvfp4, 24, DataType::kFloat4E2M1, 0, 0, 23},
      Case{kMxfp6, 8, DataType::kFloat8E4M3FN, 1, 8, 21},
      Case{kFp8E4M3, 24, DataType::kFloat8E4M3FN, 0, 0, 19});
  INFO(codec_profile_info(c.profile).name << " " << c.block_size);
  const std::shared_ptr<const Model> model = encoded_model(matmul_model(), c.profile, c.block_size);
  StandardOptions options;
  options.round_scales = true;
  const StandardWeights made = standard(model, options);
  CHECK(made.left.empty());
  REQUIRE(made.converted.size() == 1);
  const StandardWeight& w = made.converted[0];
  CHECK(w.form == StandardForm::kDequantizeLinear);
  CHECK(w.type == c.type);
  CHECK(w.axis == c.axis);
  CHECK(w.block_size == c.block);
  CHECK(w.rounding <= std::ldexp(1.0, -24));
  CHECK(made.model->graph().opset() == c.opset);
  CHECK(EncodedModel(made.model).initializers().empty());
  const NodeId node = only_node(made.model->graph(), "DequantizeLinear");
  CHECK(made.model->graph().tensor(made.model->graph().node(node).outputs[0]).name == "W");
  CHECK(max_ulps(dequantized(*made.model, node), decoded_w(model)) <= 2);
}

TEST_CASE("where scales are float32 numbers nothing is rounded", "[codec][standard_weights]") {
  const auto [profile, block] =
      GENERATE(std::pair{CodecProfile::kInt4, 8}, std::pair{CodecProfile::kGptq, 24},
               std::pair{CodecProfile::kMxfp4, 8}, std::pair{CodecProfile::kFp8E4M3, 24});
  // Multiples of a power of two that reach the largest code on both sides.
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
    const auto& info = codec_profile_info(profile);
    const float top = info.codebook.empty() ? (profile == CodecProfile::kGptq ? 7.0F : 7.0F)
                                            : static_cast<float>(info.codebook[info.codebook.size() / 2 - 1]);
    values.push_back(
        std::ldexp(i % 8 == 0 ? top : static_cast<float>(i % 5 - 2), static_cast<int>(i / kColumns % 7)));
  }
  ModelBuilder builder;
  builder.input("x", {2, kRows}).floats("W", {kRows, kColumns}, values);
  builder.node("MatMul", {"x", "W"}, {"y"}).output("y", {2, kColumns});
  const std::shared_ptr<const Model> model =
      encoded_model(builder.open(), profile, static_cast<std::uint64_t>(block));
  const StandardWeights made = standard(model, {});
  REQUIRE(made.converted.size() == 1);
  CHECK(made.converted[0].rounding == 0);
  CHECK(max_ulps(dequantized(*made.model, only_node(made.model->graph(), "DequantizeLinear")),
                 decoded_w(model)) == 0);
}

TEST_CASE("float8e4m3fn stands in for float4e2m1", "[codec][standard_weights]") {
  const std::shared_ptr<const Model> model = encoded_model(matmul_model(), CodecProfile::kMxfp4, 8);
  StandardOptions options;
  options.round_scales = true;
  options.float4 = false;
  const StandardWeights made = standard(model, options);
  CHECK(made.converted[0].type == DataType::kFloat8E4M3FN);
  CHECK(made.model->graph().opset() == 21);
  CHECK(max_ulps(dequantized(*made.model, only_node(made.model->graph(), "DequantizeLinear")),
                 decoded_w(model)) <= 2);
}

TEST_CASE("onnxruntime's profiles become MatMulNBits with the same bytes", "[codec][standard_weights]") {
  const CodecProfile profile = GENERATE(CodecProfile::kOrtMatMulNBitsInt2, CodecProfile::kOrtMatMulNBitsInt4,
                                        CodecProfile::kOrtMatMulNBitsInt8);
  const std::shared_ptr<const Model> model = encoded_model(matmul_model(), profile, 16);
  const EncodedModel listed(model);
  const Result<EncodedValue> value = listed.value(listed.initializers()[0]);
  const Result<MatMulNBitsInputs> inputs = export_matmul_nbits_inputs(value.value());
  REQUIRE(inputs.ok());
  const StandardWeights made = standard(model, {});
  REQUIRE(made.converted.size() == 1);
  CHECK(made.converted[0].form == StandardForm::kMatMulNBits);
  const Graph& graph = made.model->graph();
  CHECK(graph.opset("com.microsoft") == 1);
  const NodeId id = only_node(graph, "MatMulNBits");
  const GraphNode& node = graph.node(id);
  CHECK(graph.int_attribute(id, "K", 0) == kRows);
  CHECK(graph.int_attribute(id, "N", 0) == kColumns);
  CHECK(graph.int_attribute(id, "bits", 0) == inputs.value().layout.bits);
  CHECK(graph.int_attribute(id, "block_size", 0) == 16);
  REQUIRE(node.inputs.size() == 3);
  CHECK(graph.tensor(node.inputs[0]).name == "x");
  CHECK(graph.tensor(node.outputs[0]).name == "y");
  const ConstantTensor b = constant(*made.model, node.inputs[1]);
  CHECK(b.dims == std::vector<std::int64_t>{kColumns, 2, 2 * inputs.value().layout.bits});
  CHECK(std::equal(b.bytes.begin(), b.bytes.end(), inputs.value().weights.begin(),
                   inputs.value().weights.end()));
  const ConstantTensor scales = constant(*made.model, node.inputs[2]);
  CHECK(std::equal(scales.bytes.begin(), scales.bytes.end(), inputs.value().scales.begin(),
                   inputs.value().scales.end()));
}

TEST_CASE("read by other nodes than MatMul, onnxruntime's profiles become DequantizeLinear, exactly",
          "[codec][standard_weights]") {
  const CodecProfile profile = GENERATE(CodecProfile::kOrtMatMulNBitsInt2, CodecProfile::kOrtMatMulNBitsInt4,
                                        CodecProfile::kOrtMatMulNBitsInt8);
  const std::shared_ptr<const Model> model = encoded_model(matmul_model(true), profile, 16);
  const StandardWeights made = standard(model, {});
  REQUIRE(made.converted.size() == 1);
  CHECK(made.converted[0].form == StandardForm::kDequantizeLinear);
  CHECK(max_ulps(dequantized(*made.model, only_node(made.model->graph(), "DequantizeLinear")),
                 decoded_w(model)) == 0);
}

TEST_CASE("NF4 of a transposed weight becomes MatMulBnb4", "[codec][standard_weights]") {
  const std::shared_ptr<const Model> model = encoded_model(matmul_model(), CodecProfile::kNf4, 64, true);
  const StandardWeights made = standard(model, {});
  REQUIRE(made.converted.size() == 1);
  CHECK(made.converted[0].form == StandardForm::kMatMulBnb4);
  const Graph& graph = made.model->graph();
  const NodeId id = only_node(graph, "MatMulBnb4");
  CHECK(graph.nodes().size() == 1);
  CHECK(graph.int_attribute(id, "K", 0) == kRows);
  CHECK(graph.int_attribute(id, "N", 0) == kColumns);
  CHECK(graph.int_attribute(id, "block_size", 0) == 64);
  CHECK(graph.int_attribute(id, "quant_type", -1) == 1);
  const ConstantTensor codes = constant(*made.model, graph.node(id).inputs[1]);
  const ConstantTensor absmax = constant(*made.model, graph.node(id).inputs[2]);
  BlockCoding coding;
  coding.format = BlockFormat::kBitsandbytesNf4;
  coding.block_size = 64;
  std::vector<float> values(kRows * kColumns);
  REQUIRE(decode_blocks(coding, codes.bytes, absmax.bytes, MutableFloatView(values)).ok());
  CHECK(max_ulps(values, decoded_w(model)) == 0);
}

TEST_CASE("FP4 as a code book becomes MatMulBnb4, through a Gemm with a bias", "[codec][standard_weights]") {
  ModelBuilder builder;
  builder.input("x", {2, kRows}).random_floats("W", {kColumns, kRows}, 5).random_floats("b", {kColumns}, 6);
  builder.node("Gemm", {"x", "W", "b"}, {"y"}, "gemm", {{"transB", std::int64_t{1}}})
      .output("y", {2, kColumns});
  EncodeWeightsOptions options;
  options.profile = CodecProfile::kSqueezeLlm;
  options.block_size = 32;
  options.chosen = [](std::string_view name) { return name == "W"; };
  options.min_elements = 1;
  for (const float sign : {1.0F, -1.0F}) {
    for (const float x : {0.0F, 0.005208333333F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F})
      options.codebook.push_back(static_cast<double>(sign * x));
  }
  const Result<EncodedWeights> made_encoded = encode_weights(builder.open(), options);
  REQUIRE(made_encoded.ok());
  const StandardWeights made = standard(made_encoded.value().model, {});
  REQUIRE(made.converted.size() == 1);
  const Graph& graph = made.model->graph();
  const NodeId id = only_node(graph, "MatMulBnb4");
  CHECK(graph.int_attribute(id, "quant_type", -1) == 0);
  const GraphNode& sum = graph.node(only_node(graph, "Add"));
  CHECK(graph.tensor(sum.inputs[1]).name == "b");
  CHECK(graph.tensor(sum.outputs[0]).name == "y");
  BlockCoding coding;
  coding.format = BlockFormat::kBitsandbytesFp4;
  coding.block_size = 32;
  std::vector<float> values(kRows * kColumns);
  REQUIRE(decode_blocks(coding, constant(*made.model, graph.node(id).inputs[1]).bytes,
                        constant(*made.model, graph.node(id).inputs[2]).bytes, MutableFloatView(values))
              .ok());
  CHECK(max_ulps(values, decoded_w(made_encoded.value().model)) == 0);
}

TEST_CASE("what has no equivalent is left with a reason", "[codec][standard_weights]") {
  using enum CodecProfile;
  const auto left = [](CodecProfile profile, std::uint64_t block_size) {
    return reason(encoded_model(matmul_model(), profile, block_size));
  };
  CHECK(left(kInt8, 24).find("no float32 number; allow rounding") != std::string::npos);
  CHECK(left(kInt8, 48).find("blocks of 48 values don't lie along one axis of its shape [32, 24]") !=
        std::string::npos);
  CHECK(left(kInt8, 100).find("don't lie along one axis") != std::string::npos);
  CHECK(left(kNf4, 64).find("MatMulBnb4") != std::string::npos);
  CHECK(left(kTiledFloat, 24).find("plain floats") != std::string::npos);
  StandardOptions plain;
  plain.contrib_operators = false;
  CHECK(reason(encoded_model(matmul_model(), kNf4, 64, true), plain).find("com.microsoft") !=
        std::string::npos);
}

TEST_CASE("outliers, permutations, offsets and float64 have no equivalent", "[codec][standard_weights]") {
  const auto left = [](const EncodedValue& value, std::int64_t dtype = 1) {
    ModelBuilder builder;
    builder.encoded(message(value, "Q")).opset(1, "ai.rt").opset(17);
    builder.node("Dequantize", {"Q"}, {"q"}, "", {{"dtype", dtype}}, "ai.rt").untyped_output("q");
    return reason(builder.open());
  };
  const OwnedTensor x = floats({-8, -4, 0, 7});
  CodecPlan plan = plan_of(CodecProfile::kInt4, 4, 4);
  CHECK(left(encoded(x, plan), 11).find("float64") != std::string::npos);
  plan.outliers = {1};
  CHECK(left(encoded(x, plan)).find("outliers") != std::string::npos);
  plan.outliers.clear();
  plan.permutation = {1, 0, 3, 2};
  CHECK(left(encoded(x, plan)).find("permuted") != std::string::npos);
  plan.permutation.clear();
  plan.runs[0].offsets = {0.5};
  CHECK(left(encoded(x, plan)).find("offsets") != std::string::npos);
}

TEST_CASE("a float16 Dequantize becomes DequantizeLinear and Cast", "[codec][standard_weights]") {
  const OwnedTensor x = shaped({-8, -4, 0, 7, -8, 2, 3, 7}, {2, 4}, DataType::kFloat16);
  ModelBuilder builder;
  builder.encoded(message(quantized(x, CodecProfile::kInt4, 4), "Q")).opset(1, "ai.rt").opset(17);
  builder.node("Dequantize", {"Q"}, {"q"}, "", {{"dtype", std::int64_t{10}}}, "ai.rt");
  builder.output("q", {2, 4}, DataType::kFloat16);
  const StandardWeights made = standard(builder.open(), {});
  REQUIRE(made.converted.size() == 1);
  const Graph& graph = made.model->graph();
  const NodeId cast = only_node(graph, "Cast");
  CHECK(graph.int_attribute(cast, "to", 0) == 10);
  CHECK(graph.tensor(graph.node(cast).outputs[0]).name == "q");
  CHECK(dequantized(*made.model, only_node(graph, "DequantizeLinear")) ==
        std::vector<float>{-8, -4, 0, 7, -8, 2, 3, 7});
}

}  // namespace halftone::test
