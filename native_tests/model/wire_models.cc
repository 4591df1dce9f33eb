#include "model/wire_models.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "model/external_location.h"
#include "model/wire.h"

namespace halftone::test {
namespace {

onnx::TensorProto named(const std::string& name, std::int32_t type, std::int64_t count) {
  onnx::TensorProto tensor;
  tensor.add_dims(count);
  tensor.set_data_type(type);
  tensor.set_name(name);
  return tensor;
}

onnx::ValueInfoProto float_value(const std::string& name) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  auto* type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  type->mutable_shape()->add_dim()->set_dim_param("width");
  return value;
}

// A field that no ONNX message has, with the number 1000, as a text, a number, and a group.
std::string unknown_fields(std::string_view text) {
  std::string wire;
  append_text_field(wire, 1000, text);
  append_tag(wire, 1001, WireType::kVarint);
  append_varint(wire, UINT64_MAX);
  append_tag(wire, 1002, WireType::kGroupStart);
  append_text_field(wire, 1, text);
  append_tag(wire, 1002, WireType::kGroupEnd);
  return wire;
}

template <typename Message>
void add_unknown(Message& message, std::string_view text) {
  message.mutable_unknown_fields()->append(unknown_fields(text));
}

onnx::SparseTensorProto sparse(const std::string& name, std::int64_t count) {
  onnx::SparseTensorProto tensor;
  *tensor.mutable_values() = raw_floats(name, count);
  *tensor.mutable_indices() = typed_int64s("", count);
  tensor.add_dims(count * 1000);
  add_unknown(tensor, "sparse");
  return tensor;
}

onnx::AttributeProto* add_attribute(onnx::NodeProto& node, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

onnx::NodeProto constant_node(const std::string& output, const onnx::TensorProto& value) {
  onnx::NodeProto node;
  node.add_output(output);
  node.set_op_type("Constant");
  *add_attribute(node, "value", onnx::AttributeProto::TENSOR)->mutable_t() = value;
  add_unknown(node, "node");
  return node;
}

onnx::GraphProto body(const std::string& name, int depth) {
  onnx::GraphProto graph;
  graph.set_name(name);
  *graph.add_node() = constant_node(name + "_c", raw_floats(name + "_value", 700));
  *graph.add_initializer() = typed_floats(name + "_w", 300);
  *graph.add_output() = float_value(name + "_c");
  if (depth > 0) {
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type("If");
    node->add_input("cond");
    *add_attribute(*node, "then_branch", onnx::AttributeProto::GRAPH)->mutable_g() =
        body(name + "_then", depth - 1);
    *add_attribute(*node, "else_branch", onnx::AttributeProto::GRAPH)->mutable_g() = body(name + "_else", 0);
  }
  add_unknown(graph, "graph");
  return graph;
}

void add_all_initializers(onnx::GraphProto& graph) {
  for (const std::int64_t count : {std::int64_t{5}, std::int64_t{2000}}) {
    const std::string size = std::to_string(count);
    *graph.add_initializer() = raw_floats("raw_" + size, count);
    *graph.add_initializer() = typed_floats("float_" + size, count);
    *graph.add_initializer() = typed_doubles("double_" + size, count);
    *graph.add_initializer() = typed_int32s("int32_" + size, onnx::TensorProto::INT32, count);
    *graph.add_initializer() = typed_int32s("float16_" + size, onnx::TensorProto::FLOAT16, count);
    *graph.add_initializer() = typed_int32s("int8_" + size, onnx::TensorProto::INT8, count);
    *graph.add_initializer() = typed_int32s("int4_" + size, onnx::TensorProto::INT4, count);
    *graph.add_initializer() = typed_int64s("int64_" + size, count);
    *graph.add_initializer() = typed_uint64s("uint64_" + size, onnx::TensorProto::UINT64, count);
    *graph.add_initializer() = typed_uint64s("uint32_" + size, onnx::TensorProto::UINT32, count);
    *graph.add_initializer() = strings("string_" + size, count);
    *graph.add_sparse_initializer() = sparse("sparse_" + size, count);
  }
  onnx::TensorProto* complex = graph.add_initializer();
  *complex = typed_floats("complex64", 1000);
  complex->set_data_type(onnx::TensorProto::COMPLEX64);
  complex->set_dims(0, 500);
  add_unknown(*complex, "tensor");
  complex->set_doc_string("two floats an element");
  onnx::StringStringEntryProto* entry = complex->add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
}

onnx::FunctionProto function() {
  onnx::FunctionProto function;
  function.set_name("Scale");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("plain");
  function.add_opset_import()->set_version(17);
  *function.add_node() = constant_node("c", typed_floats("in_function", 500));
  onnx::AttributeProto* with_default = function.add_attribute_proto();
  with_default->set_name("bias");
  with_default->set_type(onnx::AttributeProto::TENSOR);
  *with_default->mutable_t() = raw_floats("default", 400);
  return function;
}

}  // namespace

onnx::TensorProto raw_floats(const std::string& name, std::int64_t count) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::FLOAT, count);
  const Bytes bytes = pattern(static_cast<std::size_t>(count) * sizeof(float), name.size());
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor;
}

onnx::TensorProto typed_floats(const std::string& name, std::int64_t count) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::FLOAT, count);
  for (std::int64_t i = 0; i < count; ++i)
    tensor.add_float_data(std::bit_cast<float>(0x3F812345U + static_cast<std::uint32_t>(i)));
  return tensor;
}

onnx::TensorProto typed_doubles(const std::string& name, std::int64_t count) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::DOUBLE, count);
  for (std::int64_t i = 0; i < count; ++i) tensor.add_double_data(1.0 / static_cast<double>(i + 1));
  return tensor;
}

onnx::TensorProto typed_int32s(const std::string& name, onnx::TensorProto::DataType type,
                               std::int64_t count) {
  onnx::TensorProto tensor = named(name, type, count);
  const std::int64_t values = type == onnx::TensorProto::INT4 ? (count + 1) / 2 : count;
  for (std::int64_t i = 0; i < values; ++i) {
    const auto value = static_cast<std::int32_t>(i % 251);
    tensor.add_int32_data(type == onnx::TensorProto::INT8 ? value - 125
                                                          : value);  // negative ones take ten bytes
  }
  return tensor;
}

onnx::TensorProto typed_int64s(const std::string& name, std::int64_t count) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::INT64, count);
  for (std::int64_t i = 0; i < count; ++i) tensor.add_int64_data((i % 2 == 0 ? 1 : -1) * i * i * 1'000'003);
  return tensor;
}

onnx::TensorProto typed_uint64s(const std::string& name, onnx::TensorProto::DataType type,
                                std::int64_t count) {
  onnx::TensorProto tensor = named(name, type, count);
  for (std::int64_t i = 0; i < count; ++i) tensor.add_uint64_data(static_cast<std::uint64_t>(i) * 2'000'003U);
  return tensor;
}

onnx::TensorProto strings(const std::string& name, std::int64_t count) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::STRING, count);
  for (std::int64_t i = 0; i < count; ++i) tensor.add_string_data(i % 3 == 0 ? "" : std::to_string(i));
  return tensor;
}

onnx::TensorProto external_floats(const std::string& name, std::int64_t count, const std::string& location,
                                  std::int64_t offset, std::int64_t length) {
  onnx::TensorProto tensor = named(name, onnx::TensorProto::FLOAT, count);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&tensor](const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  if (offset >= 0) add("offset", std::to_string(offset));
  if (length >= 0) add("length", std::to_string(length));
  return tensor;
}

onnx::ModelProto minimal_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("test");
  model.add_opset_import()->set_version(17);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("g");
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type("Identity");
  node->add_input("x");
  node->add_output("y");
  *graph->add_input() = float_value("x");
  *graph->add_output() = float_value("y");
  return model;
}

onnx::ModelProto model_with_everything() {
  onnx::ModelProto model = minimal_model();
  model.set_doc_string("everything");
  onnx::GraphProto& graph = *model.mutable_graph();
  add_all_initializers(graph);
  *graph.add_node() = constant_node("small_constant", raw_floats("small", 3));
  *graph.add_node() = constant_node("big_constant", typed_int64s("big", 900));
  onnx::NodeProto* loop = graph.add_node();
  loop->set_op_type("Loop");
  *add_attribute(*loop, "body", onnx::AttributeProto::GRAPH)->mutable_g() = body("loop", 2);
  onnx::NodeProto* custom = graph.add_node();
  custom->set_op_type("Lists");
  custom->set_domain("custom");
  onnx::AttributeProto* tensors = add_attribute(*custom, "tensors", onnx::AttributeProto::TENSORS);
  *tensors->add_tensors() = raw_floats("list_0", 999);
  *tensors->add_tensors() = raw_floats("list_1", 2);
  onnx::AttributeProto* graphs = add_attribute(*custom, "graphs", onnx::AttributeProto::GRAPHS);
  *graphs->add_graphs() = body("listed_0", 0);
  *graphs->add_graphs() = body("listed_1", 1);
  *add_attribute(*custom, "sparse", onnx::AttributeProto::SPARSE_TENSOR)->mutable_sparse_tensor() =
      sparse("one", 600);
  *add_attribute(*custom, "sparses", onnx::AttributeProto::SPARSE_TENSORS)->add_sparse_tensors() =
      sparse("many", 601);
  add_unknown(*custom->mutable_attribute(0), "attribute");
  *model.add_functions() = function();
  onnx::TrainingInfoProto* training = model.add_training_info();
  *training->mutable_initialization() = body("init", 0);
  *training->mutable_algorithm() = body("algorithm", 1);
  onnx::StringStringEntryProto* entry = model.add_metadata_props();
  entry->set_key("author");
  entry->set_value("nobody");
  add_unknown(graph, "graph");
  add_unknown(model, "model");
  return model;
}

Bytes serialize(const onnx::ModelProto& model) {
  const std::string wire = model.SerializeAsString();
  return {wire.begin(), wire.end()};
}

Bytes pattern(std::size_t count, std::size_t start) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>((i * 7 + start) % 251);
  return bytes;
}

Result<ReadModel> read(const Bytes& file, const std::map<std::string, Bytes>& external) {
  ReadModel model;
  model.store = std::make_shared<WeightStore>();
  const auto store = [&model](const std::string& path,
                              const Bytes& bytes) -> Result<std::span<const std::uint8_t>> {
    Result<ByteBuffer> buffer = ByteBuffer::allocate(bytes.size());
    if (!buffer) return buffer.error();
    std::copy(bytes.begin(), bytes.end(), buffer.value().span().begin());
    return model.store->add(path, std::move(buffer).value());
  };
  const auto bytes = store("model", file);
  if (!bytes) return bytes.error();
  Result<Skeleton> skeleton = read_skeleton(bytes.value(), "model");
  if (!skeleton) return skeleton.error();
  model.skeleton = std::move(skeleton.value().model);
  model.external_files = std::move(skeleton.value().external_files);
  for (const auto& [location, content] : external) {
    if (const auto added = store(external_store_path(location), content); !added) return added.error();
  }
  return model;
}

Result<WrittenModel> write(const ReadModel& model, const WriteOptions& options) {
  return write_skeleton(model.skeleton, model.store, options);
}

}  // namespace halftone::test
