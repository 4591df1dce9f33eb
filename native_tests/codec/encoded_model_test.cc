// Encoded values in models: what stays as it was, what is listed, and what is wrong with what is.
#include "halftone/encoded_model.h"

#include <catch2/catch_test_macros.hpp>

#include "codec/encoded_cases.h"
#include "halftone/editor.h"
#include "halftone/subgraph.h"
#include "halftone/writer.h"
#include "model/onnx_messages.h"
#include "model/wire.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

// Vector A1 of two blocks, many times over, so that the payload is bulk.
OwnedTensor long_tensor() {
  std::vector<double> values;
  for (int i = 0; i < 512; ++i) values.insert(values.end(), {-8, -4, 0, 7, -16, 0, 8, 14});
  return floats(values);
}

Bytes long_message(std::string_view name) {
  return message(quantized(long_tensor(), CodecProfile::kInt4, 4), name);
}

Bytes short_message(std::string_view name) {
  return message(quantized(floats({-8, -4, 0, 7, -16, 0, 8, 14}), CodecProfile::kInt4, 4), name);
}

ModelBuilder& dequantize(ModelBuilder& model, const std::string& from, const std::string& to) {
  return model.node("Dequantize", {from}, {to}, "", {{"dtype", std::int64_t{1}}}, "ai.rt")
      .opset(1, "ai.rt")
      .opset(17);
}

// Q and P are encoded; y = Q + P + x.
ModelBuilder sum_model(const Bytes& q, const Bytes& p) {
  ModelBuilder model;
  model.input("x", {1}).encoded(q).encoded(p);
  dequantize(model, "Q", "q");
  model.node("Dequantize", {"P"}, {"p"}, "", {{"dtype", std::int64_t{11}}}, "ai.rt");
  model.node("Add", {"q", "x"}, {"y"})
      .output("y", {4096})
      .node("Identity", {"p"}, {"z"})
      .output("z", {8}, DataType::kDouble);
  return model;
}

Bytes rewritten(const std::shared_ptr<const Model>& model) {
  const Result<WrittenModel> written = write_model(model, {});
  REQUIRE(written.ok());
  return written.value().model.flatten();
}

onnx::ModelProto parsed(const Bytes& bytes) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return model;
}

std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::string catalogue_entry(std::uint64_t id) {
  StructType type = type_of(plan_of(CodecProfile::kInt4, 8, 4));
  type.type_id = id;
  return write_struct_type(type);
}

// A value whose struct type is a reference.
Bytes referring_message(std::string_view name, std::uint64_t id) {
  EncodedValue value = quantized(floats({-8, -4, 0, 7, -16, 0, 8, 14}), CodecProfile::kInt4, 4);
  value.layout = StructType{TypeReference{id}, {}, {}, {}, {}, {}, {}};
  return message(std::move(value), name);
}

std::string fault_of(const Bytes& encoded) {
  ModelBuilder model;
  model.input("x", {1}).output("y", {1}).node("Identity", {"x"}, {"y"}).encoded(encoded);
  const EncodedModel listed(model.open());
  REQUIRE(listed.initializers().size() == 1);
  const std::optional<Error>& fault = listed.initializers()[0].fault;
  if (!fault) return "";
  CHECK(fault->message.back() == '.');
  CHECK(listed.value(listed.initializers()[0]).error().message == fault->message);
  return fault->message;
}

}  // namespace

TEST_CASE("encoded values and struct types are written as they were read", "[codec][encoded_model]") {
  ModelBuilder builder = sum_model(long_message("Q"), short_message("P"));
  builder.struct_type(catalogue_entry(3)).struct_type(catalogue_entry(7));
  builder.graph_field(1002, std::string(5000, 'k'));  // a paged cache
  builder.graph_field(1077, std::string(5000, 'u'));  // somebody else's, large and small
  builder.graph_field(1078, "small");
  builder.graph_field(19500, std::string("\x08\xe8\x07", 3));  // the number of the reader's own references
  const Bytes file = builder.bytes();
  const std::shared_ptr<const Model> model = builder.open();
  const Bytes again = rewritten(model);
  CHECK(parsed(again).SerializeAsString() == parsed(file).SerializeAsString());
  CHECK(parsed(again).graph().unknown_fields() == parsed(file).graph().unknown_fields());
  CHECK(text(again).find(text(long_message("Q"))) != std::string::npos);
  CHECK(model->warnings().empty());
}

TEST_CASE("the payload of an encoded initializer is never copied", "[codec][encoded_model]") {
  const std::shared_ptr<const Model> model = sum_model(long_message("Q"), short_message("P")).open();
  const auto file = model->buffers()[0].bytes;
  const EncodedModel listed(model);
  const Result<EncodedValue> value = listed.value(*listed.find("Q"));
  REQUIRE(value.ok());
  const auto payload = value.value().payload->bytes();
  CHECK(payload.data() > file.data());
  CHECK(payload.data() + payload.size() < file.data() + file.size());
  const Result<WrittenModel> written = write_model(model, {});
  REQUIRE(written.ok());
  std::size_t views = 0;
  for (const auto piece : written.value().model.pieces())
    views += piece.data() <= payload.data() && payload.data() + payload.size() <= piece.data() + piece.size();
  CHECK(views == 1);
}

TEST_CASE("encoded initializers are listed", "[codec][encoded_model]") {
  const std::shared_ptr<const Model> model = sum_model(long_message("Q"), short_message("P")).open();
  const EncodedModel listed(model);
  REQUIRE(listed.initializers().size() == 2);
  const EncodedInitializer& q = listed.initializers()[0];
  CHECK(q.name == "Q");
  CHECK(q.profile == CodecProfile::kInt4);
  CHECK(q.logical_type == TensorType{DataType::kFloat, {4096}, true});
  CHECK(q.payload_bytes == 1 + 1024 * 26);
  CHECK(q.message_bytes == long_message("Q").size());
  CHECK_FALSE(q.fault);
  CHECK(listed.find("P")->payload_bytes == 53);
  CHECK(listed.find("R") == nullptr);
  const Result<Bytes> values = listed.decode(q);
  REQUIRE(values.ok());
  CHECK(values.value() == long_tensor().bytes);

  const Graph& graph = model->graph();
  CHECK(graph.tensor(graph.find_tensor("Q")).encoded);
  CHECK(graph.tensor(graph.find_tensor("Q")).type == DataType::kUndefined);
  const GraphTensor& p = graph.tensor(graph.find_tensor("p"));
  CHECK(p.type == DataType::kDouble);
  REQUIRE(p.shape);
  CHECK(p.shape->front().value == 8);
}

TEST_CASE("a value may refer to the model's struct types", "[codec][encoded_model]") {
  ModelBuilder builder = sum_model(long_message("Q"), referring_message("P", 7));
  builder.struct_type(catalogue_entry(3)).struct_type(catalogue_entry(7));
  const EncodedModel listed(builder.open());
  CHECK(listed.catalogue().size() == 2);
  const EncodedInitializer* p = listed.find("P");
  REQUIRE_FALSE(p->fault);
  CHECK(p->profile == CodecProfile::kInt4);
  const Result<Bytes> values = listed.decode(*p);
  REQUIRE(values.ok());
  CHECK(values.value() == floats({-8, -4, 0, 7, -16, 0, 8, 14}).bytes);
}

TEST_CASE("a value may share its parameters", "[codec][encoded_model]") {
  const StructType storage = type_of(plan_of(CodecProfile::kInt4, 4, 4));
  const std::string storage_bytes = write_struct_type(storage);
  const std::string logical = "\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x04";
  EncodedValue compact;
  compact.layout =
      read_struct_type(from_hex("12150a130a056c6f63616c120a0a08080212040a020803"
                                "3a216f6e6e785f6c696768742e7175616e74697a6174696f6e2e7368617265642e7631"))
          .value();
  compact.logical_type = TensorType{DataType::kFloat, {4}, true};
  compact.payload = PayloadBytes(from_hex("00f871"));
  compact.parameter_ref = "common";
  ModelBuilder builder;
  builder.input("x", {4}).output("y", {4}).node("Identity", {"x"}, {"y"});
  builder.tensor("st", DataType::kUint8, {static_cast<std::int64_t>(storage_bytes.size())}, storage_bytes);
  builder.tensor("lt", DataType::kUint8, {static_cast<std::int64_t>(logical.size())}, logical);
  builder.floats("s", {}, {0.5F});
  builder.annotation("onnx_light.quantization.parameters:common",
                     {{"storage_type", "st"}, {"logical_type", "lt"}, {"scales", "s"}});
  builder.encoded(message(compact, "Q0"));
  compact.parameter_ref = "other";
  builder.encoded(message(compact, "Q1"));
  const EncodedModel listed(builder.open());
  const EncodedInitializer& q0 = listed.initializers()[0];
  INFO((q0.fault ? q0.fault->message : ""));
  REQUIRE_FALSE(q0.fault);
  CHECK(q0.profile == CodecProfile::kInt4);
  const Result<Bytes> values = listed.decode(q0);
  REQUIRE(values.ok());
  CHECK(to_doubles(values.value(), DataType::kFloat) == std::vector<double>{-4, -.5, .5, 3.5});
  REQUIRE(listed.initializers()[1].fault);
  CHECK(listed.initializers()[1].fault->message ==
        "The encoded initializer \"Q1\": Its parameter_ref \"other\" is no parameter set of the model.");
}

TEST_CASE("faults of encoded initializers are said by name", "[codec][encoded_model][hostile]") {
  CHECK(fault_of(short_message("P")).empty());
  CHECK(fault_of(referring_message("P", 9)).find("encoded initializer \"P\"") != std::string::npos);
  CHECK(fault_of(short_message("")).find("has no name") != std::string::npos);
  EncodedValue cut = quantized(floats({1, 2, 3}), CodecProfile::kInt8, 4);
  const auto bytes = cut.payload->bytes();
  cut.payload = PayloadBytes(Bytes(bytes.begin(), bytes.end() - 1));
  CHECK(fault_of(message(cut, "P")).find("truncated") != std::string::npos);
  cut.payload.reset();
  CHECK_FALSE(fault_of(message(cut, "P")).empty());
}

TEST_CASE("an encoded initializer that is cut at any byte", "[codec][encoded_model][hostile]") {
  const Bytes whole = short_message("P");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut at " << size);
    CHECK_FALSE(fault_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).empty());
  }
}

TEST_CASE("an encoded initializer with any byte flipped is decoded or refused",
          "[codec][encoded_model][hostile]") {
  const Bytes whole = short_message("P");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes flipped = whole;
    flipped[at] ^= static_cast<std::uint8_t>(1U << at % 8);
    ModelBuilder builder;
    builder.input("x", {1}).output("y", {1}).node("Identity", {"x"}, {"y"}).encoded(flipped);
    const EncodedModel listed(builder.open());
    REQUIRE(listed.initializers().size() == 1);
    const Result<Bytes> values = listed.decode(listed.initializers()[0]);
    const TensorType& logical = listed.initializers()[0].logical_type;
    if (values.ok())
      CHECK(raw_byte_count(logical.type, logical.dims) == values.value().size());
    else
      CHECK(values.error().message.back() == '.');
  }
}

TEST_CASE("names of encoded initializers are defined once", "[codec][encoded_model][hostile]") {
  const auto refusal = [](ModelBuilder& model) {
    const Result<std::shared_ptr<const Model>> opened = open_model(model.bytes());
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == ErrorCode::kInvalidGraph);
    return opened.error().message;
  };
  const auto base = [] {
    ModelBuilder model;
    model.input("x", {1}).output("y", {1}).node("Identity", {"x"}, {"y"}).encoded(short_message("P"));
    return model;
  };
  ModelBuilder twice = base();
  CHECK(refusal(twice.encoded(short_message("P"))).find("an encoded initializer") != std::string::npos);
  ModelBuilder tensor = base();
  CHECK(refusal(tensor.floats("P", {1}, {1})).find("\"P\" is defined twice") != std::string::npos);
  ModelBuilder output = base();
  CHECK(refusal(output.node("Identity", {"x"}, {"P"})).find("\"P\" is defined twice") != std::string::npos);
  ModelBuilder input = base();
  input.input("P", {8});
  const std::shared_ptr<const Model> with_default = input.open();
  CHECK(with_default->graph().inputs().size() == 1);
}

TEST_CASE("faults of the catalogue of struct types", "[codec][encoded_model][hostile]") {
  const auto fault = [](std::initializer_list<std::string> types) {
    ModelBuilder model;
    model.input("x", {1}).output("y", {1}).node("Identity", {"x"}, {"y"});
    for (const std::string& type : types) model.struct_type(type);
    return EncodedModel(model.open()).catalogue_fault();
  };
  CHECK_FALSE(fault({catalogue_entry(1), catalogue_entry(2)}));
  CHECK(fault({catalogue_entry(1), catalogue_entry(1)})->code == ErrorCode::kInvalidGraph);
  CHECK(fault({catalogue_entry(0)})->code == ErrorCode::kInvalidGraph);
  CHECK(fault({"\x12\x7f"})->code == ErrorCode::kTruncated);
}

TEST_CASE("encoded initializers go with their last reader", "[codec][encoded_model]") {
  const std::shared_ptr<const Model> model = sum_model(long_message("Q"), short_message("P")).open();
  const Result<std::shared_ptr<const Model>> part = subgraph(model, {"x"}, {"y"});
  REQUIRE(part.ok());
  const EncodedModel listed(part.value());
  REQUIRE(listed.initializers().size() == 1);
  CHECK(listed.initializers()[0].name == "Q");

  ModelEditor editor(model);
  const NodeId add = model->graph().tensor(model->graph().find_tensor("y")).producer;
  editor.remove_node(model->graph().tensor(model->graph().find_tensor("q")).producer);
  editor.redirect_input({add, 0}, "x");
  const Result<std::shared_ptr<const Model>> edited = std::move(editor).finish();
  REQUIRE(edited.ok());
  const EncodedModel rest(edited.value());
  REQUIRE(rest.initializers().size() == 1);
  CHECK(rest.initializers()[0].name == "P");
  CHECK(text(rewritten(edited.value())).find(text(long_message("Q"))) == std::string::npos);
}

}  // namespace halftone::test
