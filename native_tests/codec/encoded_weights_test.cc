// Weights of a model as encoded values, and back.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>

#include "codec/encoded_cases.h"
#include "halftone/encode_weights.h"
#include "halftone/encoded_model.h"
#include "halftone/ort_matmul_nbits.h"
#include "halftone/writer.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

EncodeWeightsOptions with(CodecProfile profile, std::uint64_t block_size) {
  EncodeWeightsOptions options;
  options.profile = profile;
  options.block_size = block_size;
  options.min_elements = 16;
  return options;
}

// y = x W + b, W [32, 24], and a small constant of a node.
ModelBuilder matmul_model() {
  ModelBuilder model;
  model.input("x", {2, 32}).random_floats("W", {32, 24}, 5).random_floats("b", {24}, 6);
  model.constant_node("c", {4, 6}, std::vector<float>(24, 0.5F));
  model.node("MatMul", {"x", "W"}, {"xw"}, "mm").node("Add", {"xw", "b"}, {"y"}).output("y", {2, 24});
  model.node("Identity", {"c"}, {"z"}).output("z", {4, 6});
  return model;
}

EncodedWeights encoded_weights(const std::shared_ptr<const Model>& model,
                               const EncodeWeightsOptions& options) {
  Result<EncodedWeights> made = encode_weights(model, options);
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return std::move(made).value();
}

DecodedWeights decoded_weights(const std::shared_ptr<const Model>& model) {
  Result<DecodedWeights> made = decode_weights(model);
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return std::move(made).value();
}

ConstantTensor constant(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> found = model.constant(id);
  REQUIRE(found.ok());
  return found.value();
}

Bytes copy(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

std::shared_ptr<const Model> reopened(const std::shared_ptr<const Model>& model) {
  const Result<WrittenModel> written = write_model(model, {});
  REQUIRE(written.ok());
  const Result<std::shared_ptr<const Model>> opened = open_model(written.value().model.flatten());
  REQUIRE(opened.ok());
  return opened.value();
}

}  // namespace

TEST_CASE("a weight becomes an encoded initializer behind a Dequantize", "[codec][encoded_weights]") {
  const std::shared_ptr<const Model> model = matmul_model().open();
  const EncodedWeights made = encoded_weights(model, with(CodecProfile::kNf4, 64));
  REQUIRE(made.encoded.size() == 3);
  CHECK(made.left.empty());
  const EncodedWeight& w = made.encoded[0].tensor == "W" ? made.encoded[0] : made.encoded[1];
  CHECK(w.encoded == "W_encoded");
  CHECK(w.float_bytes == 32 * 24 * 4);
  CHECK(w.payload_bytes == 1 + 12 * (24 + 16 * 8 + 32));

  const std::shared_ptr<const Model> read = reopened(made.model);
  CHECK(read->warnings().empty());
  const Graph& graph = read->graph();
  CHECK(graph.opset("ai.rt") == 1);
  const GraphTensor& decoded = graph.tensor(graph.find_tensor("W"));
  CHECK_FALSE(decoded.initializer);
  CHECK(decoded.type == DataType::kFloat);
  CHECK(graph.node(decoded.producer).domain == "ai.rt");
  CHECK(graph.node(decoded.producer).op_type == "Dequantize");
  CHECK(graph.int_attribute(decoded.producer, "dtype", 0) == 1);
  CHECK(graph.tensor(graph.node(decoded.producer).inputs[0]).name == "W_encoded");
  CHECK(graph.find_tensor("c") != kNone);

  // The bytes are those of ai.rt::Quantize without scales, for the same tensor.
  const ConstantTensor weight = constant(*model, "W");
  const EncodedValue expected = quantized({weight.type, weight.dims, weight.bytes}, CodecProfile::kNf4, 64);
  const Result<WrittenModel> written = write_model(made.model, {});
  const Bytes file = written.value().model.flatten();
  const Bytes wanted = message(expected, "W_encoded");
  CHECK(std::search(file.begin(), file.end(), wanted.begin(), wanted.end()) != file.end());
  CHECK(w.message_bytes == wanted.size());
}

TEST_CASE("decoded weights are what the codec decodes", "[codec][encoded_weights]") {
  const CodecProfile profile = GENERATE(CodecProfile::kInt8, CodecProfile::kInt4, CodecProfile::kGptq,
                                        CodecProfile::kNf4, CodecProfile::kTernary, CodecProfile::kFp8E4M3,
                                        CodecProfile::kOrtMatMulNBitsInt4, CodecProfile::kTiledFloat);
  const std::shared_ptr<const Model> model = matmul_model().open();
  EncodeWeightsOptions options = with(profile, 16);
  options.chosen = [](std::string_view name) { return name == "W"; };
  const EncodedWeights made = encoded_weights(model, options);
  REQUIRE(made.encoded.size() == 1);
  const EncodedModel listed(made.model);
  CHECK(listed.initializers()[0].profile == profile);
  const DecodedWeights back = decoded_weights(reopened(made.model));
  REQUIRE(back.decoded.size() == 1);
  CHECK(back.decoded[0].tensor == "W");
  const ConstantTensor values = constant(*back.model, "W");
  CHECK(values.dims == std::vector<std::int64_t>{32, 24});
  CHECK(copy(values.bytes) == listed.decode(listed.initializers()[0]).value());
  CHECK(EncodedModel(back.model).initializers().empty());
  CHECK(back.model->graph().nodes().size() == model->graph().nodes().size());
}

TEST_CASE("weights of every float type keep their type", "[codec][encoded_weights]") {
  const DataType type =
      GENERATE(DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16);
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back((i % 16 - 8) * 0.25);
  const OwnedTensor weight = shaped(values, {4, 16}, type);
  ModelBuilder builder;
  builder.tensor("W", type, {4, 16},
                 {reinterpret_cast<const char*>(weight.bytes.data()), weight.bytes.size()});
  builder.node("Identity", {"W"}, {"y"}).output("y", {4, 16}, type);
  const EncodedWeights made = encoded_weights(builder.open(), with(CodecProfile::kInt4, 16));
  const Graph& graph = made.model->graph();
  CHECK(graph.int_attribute(graph.tensor(graph.find_tensor("W")).producer, "dtype", 0) ==
        static_cast<std::int64_t>(type));
  const DecodedWeights back = decoded_weights(made.model);
  CHECK(constant(*back.model, "W").type == type);
  CHECK(copy(constant(*back.model, "W").bytes) == weight.bytes);  // multiples of the scale, all in reach
}

TEST_CASE("outputs and subgraphs read a decoded weight by its name", "[codec][encoded_weights]") {
  ModelBuilder body;
  body.node("Identity", {"W"}, {"inner"}).output("inner", {4, 16});
  ModelBuilder builder;
  builder.input("cond", {}, DataType::kBool).random_floats("W", {4, 16}, 3).output("W", {4, 16});
  builder.node("If", {"cond"}, {"y"}, "if", {{"then_branch", body.body()}, {"else_branch", body.body()}});
  builder.output("y", {4, 16});
  const EncodedWeights made = encoded_weights(builder.open(), with(CodecProfile::kInt8, 16));
  REQUIRE(made.encoded.size() == 1);
  const std::shared_ptr<const Model> read = reopened(made.model);
  CHECK(read->graph().tensor(read->graph().find_tensor("W")).graph_output);
  const DecodedWeights back = decoded_weights(read);
  CHECK(back.model->graph().tensor(back.model->graph().find_tensor("W")).initializer);
}

TEST_CASE("matrices that MatMul reads can be stored transposed", "[codec][encoded_weights]") {
  const std::shared_ptr<const Model> model = matmul_model().open();
  EncodeWeightsOptions options = with(CodecProfile::kTiledFloat, 32);
  options.transpose_matmul_weights = true;
  options.chosen = [](std::string_view name) { return name == "W"; };
  const EncodedWeights made = encoded_weights(model, options);
  CHECK(made.encoded[0].dims == std::vector<std::int64_t>{24, 32});
  const DecodedWeights back = decoded_weights(made.model);
  CHECK(back.decoded[0].tensor == "W_transposed");
  CHECK(constant(*back.model, "W_transposed").dims == std::vector<std::int64_t>{24, 32});
  CHECK(copy(constant(*back.model, "W").bytes) == copy(constant(*model, "W").bytes));
}

TEST_CASE("a channel of int8_per_channel is what an index of the first axis holds",
          "[codec][encoded_weights]") {
  ModelBuilder builder;
  builder.random_floats("W", {6, 2, 5}, 3).node("Identity", {"W"}, {"y"}).output("y", {6, 2, 5});
  const EncodedWeights made = encoded_weights(builder.open(), with(CodecProfile::kInt8PerChannel, 0));
  CHECK(made.encoded[0].payload_bytes == 1 + 6 * (24 + 10));
}

TEST_CASE("tensors that can't be encoded are left, with a reason", "[codec][encoded_weights]") {
  ModelBuilder builder;
  std::vector<float> values(32, 1.0F);
  values[9] = std::numeric_limits<float>::infinity();
  builder.floats("bad", {32}, values).random_floats("good", {32}, 1).random_floats("small", {15}, 1);
  builder.tensor("ints", DataType::kInt32, {16}, std::string(64, '\1'));
  for (const char* name : {"bad", "good", "small", "ints"})
    builder.node("Identity", {name}, {std::string(name) + "_y"}).untyped_output(std::string(name) + "_y");
  const std::shared_ptr<const Model> model = builder.open();
  const EncodedWeights made = encoded_weights(model, with(CodecProfile::kInt8, 16));
  REQUIRE(made.encoded.size() == 1);
  CHECK(made.encoded[0].tensor == "good");
  REQUIRE(made.left.size() == 1);
  CHECK(made.left[0].tensor == "bad");
  CHECK(made.left[0].reason.find("finite") != std::string::npos);
  const EncodedWeights matrices = encoded_weights(model, with(CodecProfile::kOrtMatMulNBitsInt4, 16));
  CHECK(matrices.encoded.empty());
  CHECK(matrices.left.size() == 2);
  CHECK(matrices.model == model);
}

TEST_CASE("options that can't be are refused", "[codec][encoded_weights]") {
  const std::shared_ptr<const Model> model = matmul_model().open();
  const auto code = [&](const EncodeWeightsOptions& options) {
    const Result<EncodedWeights> made = encode_weights(model, options);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().message.find("weight \"") != std::string::npos);
    return made.error().code;
  };
  CHECK(code(with(CodecProfile::kInt8, std::uint64_t{1} << 33U)) == ErrorCode::kInvalidPolicy);
  CHECK(code(with(CodecProfile::kSqueezeLlm, 64)) == ErrorCode::kInvalidPolicy);
  CHECK(code(with(CodecProfile::kAqlm, 64)) == ErrorCode::kInvalidPolicy);
  CHECK(code(with(CodecProfile::kQuarot, 64)) == ErrorCode::kInvalidPolicy);
  CHECK(code(with(CodecProfile::kOrtMatMulNBitsInt4, 20)) == ErrorCode::kInvalidPolicy);
  EncodeWeightsOptions learned = with(CodecProfile::kSqueezeLlm, 64);
  for (int i = 0; i < 16; ++i) learned.codebook.push_back(i * 0.125 - 1.0);
  CHECK(encoded_weights(model, learned).encoded.size() == 3);
}

TEST_CASE("only what reads an encoded initializer is decoded", "[codec][encoded_weights]") {
  const Bytes q = message(quantized(floats({-8, -4, 0, 7}), CodecProfile::kInt4, 4), "Q");
  ModelBuilder builder;
  builder.encoded(q).opset(1, "ai.rt").opset(17).node("Identity", {"Q"}, {"R"});
  builder.node("Dequantize", {"R"}, {"r"}, "", {{"dtype", std::int64_t{1}}}, "ai.rt").output("r", {4});
  builder.node("Dequantize", {"Q"}, {"h"}, "", {{"dtype", std::int64_t{10}}}, "ai.rt");
  builder.output("h", {4}, DataType::kFloat16);
  const DecodedWeights made = decoded_weights(builder.open());
  REQUIRE(made.decoded.size() == 1);
  CHECK(made.decoded[0].type == DataType::kFloat16);
  CHECK(copy(constant(*made.model, "h").bytes) == floats({-8, -4, 0, 7}, DataType::kFloat16).bytes);
  REQUIRE(made.left.size() == 1);
  CHECK(made.left[0].tensor == "r");
  CHECK(EncodedModel(made.model).initializers().size() == 1);

  ModelBuilder untyped;
  untyped.encoded(q).node("Dequantize", {"Q"}, {"q"}, "", {}, "ai.rt").output("q", {4});
  const Result<DecodedWeights> refused = decode_weights(untyped.open());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("dtype") != std::string::npos);
}

}  // namespace halftone::test
