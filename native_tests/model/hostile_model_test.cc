// Damaged and hostile files: always an error with a place, never a crash, never a model that isn't what the
// file says.
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>

#include "model/wire.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

// A minimal model whose graph is given as wire bytes.
Bytes with_graph(std::string_view graph) {
  onnx::ModelProto frame = minimal_model();
  frame.clear_graph();
  std::string wire = frame.SerializeAsString();
  append_text_field(wire, 7, graph);
  return bytes_of(wire);
}

Bytes with_tensor(const onnx::TensorProto& tensor) {
  onnx::ModelProto model = minimal_model();
  *model.mutable_graph()->add_initializer() = tensor;
  return serialize(model);
}

Error error_of(const Bytes& file) {
  const Result<ReadModel> model = read(file);
  REQUIRE_FALSE(model.ok());
  const Error& error = model.error();
  CHECK_FALSE(error.message.empty());
  CHECK(error.message.back() == '.');
  CHECK(error.message.find('\n') == std::string::npos);
  return error;
}

TEST_CASE("a model cut at any byte is refused, or its graph is complete", "[model][hostile]") {
  const Bytes file = serialize(model_with_everything());
  const onnx::ModelProto whole = model_with_everything();
  const std::string graph = read(file).value().skeleton.graph().SerializeAsString();
  std::size_t opened = 0;
  // Every cut of the first and last bytes, and every 37th between: the middle is one long tensor after
  // another.
  for (std::size_t cut = 0; cut < file.size(); cut += cut < 2000 || cut + 2000 > file.size() ? 1U : 37U) {
    const Bytes head(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
    const Result<ReadModel> model = read(head);
    if (!model.ok()) {
      const ErrorCode code = model.error().code;
      REQUIRE(
          (code == ErrorCode::kTruncated || code == ErrorCode::kNotOnnx || code == ErrorCode::kInvalidGraph));
      continue;
    }
    // Cut between two fields behind the graph: nothing in the file says that something is missing.
    ++opened;
    REQUIRE(model.value().skeleton.graph().SerializeAsString() == graph);
    REQUIRE(model.value().skeleton.opset_import_size() == whole.opset_import_size());
  }
  CHECK(opened <= 8);  // metadata, training info, functions and unknown fields may be lost so
}

TEST_CASE("a small model cut at every byte", "[model][hostile]") {
  const Bytes file = with_tensor(raw_floats("w", 300));
  for (std::size_t cut = 0; cut < file.size(); ++cut) {
    INFO("cut at " << cut);
    const Error error = error_of({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut)});
    // The opset comes last: cut in front of it, the file is a message without a fault but no model.
    CHECK((error.code == ErrorCode::kTruncated || error.code == ErrorCode::kNotOnnx ||
           error.code == ErrorCode::kInvalidGraph));
  }
}

TEST_CASE("every byte of a model set to other values never breaks the reader", "[model][hostile]") {
  onnx::ModelProto model = minimal_model();
  *model.mutable_graph()->add_initializer() = raw_floats("w", 300);
  *model.mutable_graph()->add_initializer() = typed_int64s("i", 300);
  *model.mutable_graph()->add_initializer() = external_floats("e", 4, "weights.bin", 0, 16);
  const Bytes file = serialize(model);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const std::uint8_t value :
         {std::uint8_t{0x00}, std::uint8_t{0x0B}, std::uint8_t{0x7F}, std::uint8_t{0xFF}}) {
      Bytes changed = file;
      changed[at] = value;
      const Result<ReadModel> read_back = read(changed, {{"weights.bin", pattern(16, 0)}});
      if (!read_back.ok()) {
        ++refused;
      } else if (const Result<WrittenModel> written = write(read_back.value()); written.ok()) {
        // What was accepted is written as something that is accepted again.
        const Result<ReadModel> again = read(written.value().model.flatten());
        INFO("byte " << at << " set to " << int{value} << ": " << (again.ok() ? "" : again.error().message));
        REQUIRE(again.ok());
      }
    }
  }
  CHECK(refused > 300);
}

TEST_CASE("random changes never break the reader", "[model][hostile]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const Bytes file = serialize(model_with_everything());
  for (int round = 0; round < 300; ++round) {
    Bytes changed = file;
    const std::size_t changes = 1 + random() % 8;
    for (std::size_t i = 0; i < changes; ++i)
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    if (round % 3 == 0) changed.resize(random() % changed.size());
    const Result<ReadModel> model = read(changed);
    if (model.ok()) CHECK(write(model.value()).ok());
  }
}

TEST_CASE("lengths that point outside", "[model][hostile]") {
  std::string tag;
  append_tag(tag, 5, WireType::kLength);  // of the graph: an initializer
  SECTION("of the file") {
    for (const std::uint64_t length :
         {std::uint64_t{1000}, std::uint64_t{UINT32_MAX}, std::uint64_t{INT64_MAX}, UINT64_MAX}) {
      std::string graph = tag;
      append_varint(graph, length);
      const Error error = error_of(with_graph(graph));
      CHECK(error.code == ErrorCode::kTruncated);
      CHECK(error.where.starts_with("byte "));
    }
  }
  SECTION("of their message") {
    std::string graph = tag;
    append_varint(graph, 5);
    const Error error = error_of(with_graph(graph));  // the opset's bytes follow the graph
    CHECK((error.code == ErrorCode::kInvalidGraph || error.code == ErrorCode::kTruncated));
  }
  SECTION("with a varint that has no end") {
    const Error error = error_of(with_graph(tag + std::string(11, '\xff')));
    CHECK(error.code == ErrorCode::kInvalidGraph);
    CHECK(error.message.find("too long") != std::string::npos);
  }
}

TEST_CASE("known fields with values of the wrong kind", "[model][hostile]") {
  std::string graph;
  SECTION("a node as a number") {
    append_tag(graph, 1, WireType::kVarint);
    append_varint(graph, 7);
  }
  SECTION("a name as a double") {
    append_tag(graph, 2, WireType::kFixed64);
    graph.append(8, 'x');
  }
  SECTION("a name as a group") {
    append_tag(graph, 2, WireType::kGroupStart);
    append_tag(graph, 2, WireType::kGroupEnd);
  }
  const Error error = error_of(with_graph(graph));
  CHECK(error.code == ErrorCode::kInvalidGraph);
  CHECK(error.where.starts_with("byte "));
}

TEST_CASE("groups: kept when sound, refused when not", "[model][hostile]") {
  const auto nested = [](std::size_t depth, std::size_t closed) {
    std::string wire;
    for (std::size_t i = 0; i < depth; ++i) append_tag(wire, 500, WireType::kGroupStart);
    for (std::size_t i = 0; i < closed; ++i) append_tag(wire, 500, WireType::kGroupEnd);
    return wire;
  };
  CHECK(read(with_graph(nested(kMaxGroupDepth, kMaxGroupDepth))).ok());
  CHECK(error_of(with_graph(nested(kMaxGroupDepth + 1, kMaxGroupDepth + 1))).code ==
        ErrorCode::kInvalidGraph);
  CHECK(error_of(with_graph(nested(1'000'000, 0))).code == ErrorCode::kInvalidGraph);
  CHECK_FALSE(read(with_graph(nested(2, 1))).ok());
  CHECK(error_of(with_graph(nested(1, 2))).code == ErrorCode::kInvalidGraph);
  std::string crossed;
  append_tag(crossed, 500, WireType::kGroupStart);
  append_tag(crossed, 501, WireType::kGroupEnd);
  CHECK(error_of(with_graph(crossed)).code == ErrorCode::kInvalidGraph);
}

// A graph inside a node inside a graph …, built from the inside out.
std::string nested_graphs(int depth) {
  std::string graph;
  for (int i = 0; i < depth; ++i) {
    std::string attribute;
    append_text_field(attribute, 6, graph);
    std::string node;
    append_text_field(node, 5, attribute);
    graph.clear();
    append_text_field(graph, 1, node);
  }
  return graph;
}

TEST_CASE("deep nesting is refused before it can exhaust a stack", "[model][hostile]") {
  CHECK(read(with_graph(nested_graphs(20))).ok());
  CHECK(error_of(with_graph(nested_graphs(22))).code == ErrorCode::kTooLarge);
  CHECK(error_of(with_graph(nested_graphs(2000))).code == ErrorCode::kTooLarge);

  std::string type;
  for (int i = 0; i < 2000; ++i) {
    std::string sequence;
    append_text_field(sequence, 1, type);
    type.clear();
    append_text_field(type, 4, sequence);
  }
  std::string value;
  append_text_field(value, 2, type);
  std::string graph;
  append_text_field(graph, 11, value);
  CHECK(error_of(with_graph(graph)).code == ErrorCode::kTooLarge);
}

TEST_CASE("dimensions that no data can have", "[model][hostile]") {
  onnx::TensorProto tensor = raw_floats("w", 4);
  SECTION("negative") { tensor.set_dims(0, -4); }
  SECTION("product beyond 64 bits") {
    tensor.clear_dims();
    for (int i = 0; i < 4; ++i) tensor.add_dims(std::int64_t{1} << 31);
  }
  SECTION("product that wraps to the right size") {
    tensor.clear_dims();
    tensor.add_dims(std::int64_t{1} << 62);
    tensor.add_dims(16);
    tensor.add_dims(4);
  }
  SECTION("too many elements") { tensor.set_dims(0, 5); }
  SECTION("too few elements") { tensor.set_dims(0, 3); }
  SECTION("none, with data") { tensor.set_dims(0, 0); }
  SECTION("some, without data") { tensor.clear_raw_data(); }
  const Error error = error_of(with_tensor(tensor));
  CHECK(error.code == ErrorCode::kInvalidGraph);
  CHECK(error.where == "w");
}

TEST_CASE("large tensors are held to their dimensions as small ones are", "[model][hostile]") {
  for (onnx::TensorProto tensor :
       {raw_floats("w", 1000), typed_floats("w", 1000), typed_doubles("w", 1000), typed_int64s("w", 1000)}) {
    for (const std::int64_t dim : {std::int64_t{20'000}, std::int64_t{20}}) {
      tensor.set_dims(0, dim);
      const Error error = error_of(with_tensor(tensor));
      CHECK(error.code == ErrorCode::kInvalidGraph);
      CHECK(error.where == "w");
    }
  }
}

TEST_CASE("tensors that contradict themselves", "[model][hostile]") {
  onnx::TensorProto tensor = raw_floats("w", 4);
  SECTION("data in two fields") { *tensor.mutable_float_data() = typed_floats("", 4).float_data(); }
  SECTION("strings as raw bytes") { tensor.set_data_type(onnx::TensorProto::STRING); }
  SECTION("data of no type") { tensor.set_data_type(onnx::TensorProto::UNDEFINED); }
  SECTION("integers as floats") {
    tensor = typed_floats("w", 4);
    tensor.set_data_type(onnx::TensorProto::INT64);
  }
  SECTION("external and inside") { tensor.set_data_location(onnx::TensorProto::EXTERNAL); }
  CHECK(error_of(with_tensor(tensor)).code == ErrorCode::kInvalidGraph);
}

TEST_CASE("a type that is not known yet is kept with its data", "[model][hostile]") {
  onnx::TensorProto tensor = raw_floats("w", 1000);
  tensor.set_data_type(99);
  tensor.set_dims(0, 7);
  const Bytes file = with_tensor(tensor);
  const Result<ReadModel> model = read(file);
  REQUIRE(model.ok());
  CHECK(write(model.value()).value().model.flatten() == file);
}

TEST_CASE("two of what there is one of", "[model][hostile]") {
  std::string graph = minimal_model().graph().SerializeAsString();
  SECTION("graphs") {
    std::string wire = minimal_model().SerializeAsString();
    append_text_field(wire, 7, graph);
    CHECK(error_of(bytes_of(wire)).code == ErrorCode::kInvalidGraph);
  }
  SECTION("tensors of an attribute") {
    std::string attribute;
    append_text_field(attribute, 5, raw_floats("a", 1000).SerializeAsString());
    append_text_field(attribute, 5, raw_floats("b", 1000).SerializeAsString());
    std::string node;
    append_text_field(node, 5, attribute);
    append_text_field(graph, 1, node);
    CHECK(error_of(with_graph(graph)).code == ErrorCode::kInvalidGraph);
  }
}

TEST_CASE("references to the store can't be forged", "[model][hostile]") {
  onnx::TensorProto tensor;
  tensor.add_dims(4);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.set_name("w");
  for (const auto& [key, value] :
       {std::pair{"halftone.path", "model"}, std::pair{"halftone.offset", "0"},
        std::pair{"halftone.length", "999999999"}, std::pair{"halftone.field", "0"}}) {
    onnx::StringStringEntryProto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  CHECK(error_of(with_tensor(tensor)).code == ErrorCode::kInvalidGraph);
  std::string wire = tensor.SerializeAsString();
  append_tag(wire, 14, WireType::kVarint);
  append_varint(wire, (std::uint64_t{1} << 40U) + 1);  // protobuf cuts it to 1, EXTERNAL
  std::string graph = minimal_model().graph().SerializeAsString();
  append_text_field(graph, 5, wire);
  CHECK(error_of(with_graph(graph)).code == ErrorCode::kInvalidGraph);
}

TEST_CASE("a structure that would fill the memory is refused", "[model][hostile]") {
  std::string graph;
  graph.reserve(20'000'000);
  for (int i = 0; i < 10'000'000; ++i) graph.append("\x0a\0", 2);  // an empty node
  CHECK(error_of(with_graph(graph)).code == ErrorCode::kTooLarge);
}

TEST_CASE("messages without what every model has", "[model][hostile]") {
  onnx::ModelProto model = minimal_model();
  SECTION("no graph") {
    model.clear_graph();
    CHECK(error_of(serialize(model)).code == ErrorCode::kInvalidGraph);
  }
  SECTION("no graph and nothing else") {
    model.Clear();
    model.set_ir_version(8);
    CHECK(error_of(serialize(model)).code == ErrorCode::kNotOnnx);
  }
  SECTION("no IR version") {
    model.clear_ir_version();
    CHECK(error_of(serialize(model)).code == ErrorCode::kInvalidGraph);
  }
  SECTION("no operator set") {
    model.clear_opset_import();
    CHECK(error_of(serialize(model)).code == ErrorCode::kInvalidGraph);
  }
}

TEST_CASE("names in errors are safe to print", "[model][hostile]") {
  onnx::TensorProto tensor = raw_floats("", 4);
  tensor.set_name("a\x1b[2J\nb\xff<script>" + std::string(500, 'x'));
  tensor.set_dims(0, 5);
  const Error error = error_of(with_tensor(tensor));
  for (const std::string& text : {error.message, error.where}) {
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find('\xff') == std::string::npos);
    CHECK(text.size() < 400);
  }
}

}  // namespace
}  // namespace halftone::test
