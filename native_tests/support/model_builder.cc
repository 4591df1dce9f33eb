#include "support/model_builder.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

namespace halftone::test {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7U;
  }
  out.push_back(static_cast<char>(value));
}

void put_number(std::string& out, std::uint32_t field, std::int64_t value) {
  put_varint(out, field << 3U);
  put_varint(out, static_cast<std::uint64_t>(value));
}

void put_text(std::string& out, std::uint32_t field, std::string_view text) {
  put_varint(out, (field << 3U) | 2U);
  put_varint(out, text.size());
  out += text;
}

void put_float(std::string& out, std::uint32_t field, float value) {
  put_varint(out, (field << 3U) | 5U);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (std::uint32_t byte = 0; byte < 4; ++byte) out.push_back(static_cast<char>(bits >> (8 * byte)));
}

std::string tensor_message(std::string_view name, DataType type, const Dims& dims, std::string_view raw) {
  std::string tensor;
  for (const std::int64_t dim : dims) put_number(tensor, 1, dim);
  put_number(tensor, 2, static_cast<std::int64_t>(type));
  put_text(tensor, 8, name);
  put_text(tensor, 9, raw);
  return tensor;
}

std::string value_message(std::string_view name, DataType type, const Dims& dims) {
  std::string shape;
  for (const std::int64_t value : dims) {
    std::string dim;
    value < 0 ? put_text(dim, 2, "N") : put_number(dim, 1, value);
    put_text(shape, 1, dim);
  }
  std::string tensor_type;
  put_number(tensor_type, 1, static_cast<std::int64_t>(type));
  put_text(tensor_type, 2, shape);
  std::string any_type;
  put_text(any_type, 1, tensor_type);
  std::string info;
  put_text(info, 1, name);
  put_text(info, 2, any_type);
  return info;
}

std::string raw_floats(const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return raw;
}

// Fields and AttributeProto.type numbers of onnx.proto.
struct AttributeWriter {
  std::string& out;
  void operator()(std::int64_t value) const {
    put_number(out, 3, value);
    put_number(out, 20, 2);
  }
  void operator()(float value) const {
    put_float(out, 2, value);
    put_number(out, 20, 1);
  }
  void operator()(const std::string& value) const {
    put_text(out, 4, value);
    put_number(out, 20, 3);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) put_number(out, 8, value);
    put_number(out, 20, 7);
  }
  void operator()(const Body& body) const {
    put_text(out, 6, body.graph);
    put_number(out, 20, 5);
  }
};

}  // namespace

ModelBuilder& ModelBuilder::ir_version(std::int64_t version) {
  ir_version_ = version;
  return *this;
}

ModelBuilder& ModelBuilder::opset(std::int64_t version, std::string_view domain) {
  opsets_.emplace_back(domain, version);
  return *this;
}

ModelBuilder& ModelBuilder::input(std::string_view name, const Dims& dims, DataType type) {
  put_text(graph_, 11, value_message(name, type, dims));
  return *this;
}

ModelBuilder& ModelBuilder::output(std::string_view name, const Dims& dims, DataType type) {
  put_text(graph_, 12, value_message(name, type, dims));
  return *this;
}

ModelBuilder& ModelBuilder::untyped_output(std::string_view name) {
  std::string info;
  put_text(info, 1, name);
  put_text(graph_, 12, info);
  return *this;
}

ModelBuilder& ModelBuilder::tensor(std::string_view name, DataType type, const Dims& dims,
                                   std::string_view raw) {
  put_text(graph_, 5, tensor_message(name, type, dims, raw));
  return *this;
}

ModelBuilder& ModelBuilder::floats(std::string_view name, const Dims& dims,
                                   const std::vector<float>& values) {
  return tensor(name, DataType::kFloat, dims, raw_floats(values));
}

ModelBuilder& ModelBuilder::random_floats(std::string_view name, const Dims& dims, std::uint32_t seed) {
  return floats(name, dims, random_values(static_cast<std::size_t>(element_count(dims).value()), seed));
}

ModelBuilder& ModelBuilder::constant_node(std::string_view name, const Dims& dims,
                                          const std::vector<float>& values) {
  std::string attribute;
  put_text(attribute, 1, "value");
  put_text(attribute, 5, tensor_message("", DataType::kFloat, dims, raw_floats(values)));
  put_number(attribute, 20, 4);
  std::string node;
  put_text(node, 2, name);
  put_text(node, 4, "Constant");
  put_text(node, 5, attribute);
  put_text(graph_, 1, node);
  return *this;
}

ModelBuilder& ModelBuilder::encoded(std::span<const std::uint8_t> message) {
  put_text(graph_, 1000, {reinterpret_cast<const char*>(message.data()), message.size()});
  return *this;
}

ModelBuilder& ModelBuilder::struct_type(std::string_view message) {
  put_text(extensions_, 1000, message);
  return *this;
}

ModelBuilder& ModelBuilder::annotation(std::string_view tensor,
                                       const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string annotation;
  put_text(annotation, 1, tensor);
  for (const auto& [key, value] : entries) {
    std::string entry;
    put_text(entry, 1, key);
    put_text(entry, 2, value);
    put_text(annotation, 2, entry);
  }
  put_text(graph_, 14, annotation);
  return *this;
}

ModelBuilder& ModelBuilder::graph_field(std::uint32_t number, std::string_view bytes) {
  put_text(graph_, number, bytes);
  return *this;
}

ModelBuilder& ModelBuilder::node(std::string_view op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs, std::string_view name,
                                 const std::vector<AttributeSetting>& attributes, std::string_view domain) {
  std::string node;
  for (const std::string& input : inputs) put_text(node, 1, input);
  for (const std::string& output : outputs) put_text(node, 2, output);
  if (!name.empty()) put_text(node, 3, name);
  put_text(node, 4, op);
  for (const auto& [attribute_name, value] : attributes) {
    std::string attribute;
    put_text(attribute, 1, attribute_name);
    std::visit(AttributeWriter{attribute}, value);
    put_text(node, 5, attribute);
  }
  if (!domain.empty()) put_text(node, 7, domain);
  put_text(graph_, 1, node);
  return *this;
}

Body ModelBuilder::body() const {
  std::string graph = graph_;
  put_text(graph, 2, "body");
  return {graph};
}

std::vector<std::uint8_t> ModelBuilder::bytes() const {
  std::string model;
  put_number(model, 1, ir_version_);
  put_text(model, 2, "halftone tests");
  std::string graph = graph_;
  put_text(graph, 2, "test");
  put_text(model, 7, graph);
  std::vector<std::pair<std::string, std::int64_t>> opsets = opsets_;
  bool has_default = false;
  for (const auto& [domain, version] : opsets) has_default = has_default || domain.empty();
  if (!has_default) opsets.emplace_back("", 17);
  for (const auto& [domain, version] : opsets) {
    std::string import;
    put_text(import, 1, domain);
    put_number(import, 2, version);
    put_text(model, 8, import);
  }
  model += extensions_;
  return {model.begin(), model.end()};
}

std::shared_ptr<const Model> ModelBuilder::open() const {
  Result<std::shared_ptr<const Model>> model = open_model(bytes());
  INFO((model.ok() ? "" : model.error().message));
  REQUIRE(model.ok());
  return std::move(model).value();
}

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  std::uint32_t state = seed * 2654435761U + 1U;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value =
        static_cast<float>(static_cast<std::int32_t>(state >> 8U) - (1 << 23)) / static_cast<float>(1 << 23);
  }
  return values;
}

std::vector<std::uint8_t> golden_file(std::string_view path) {
  const std::string full = std::string(HALFTONE_GOLDEN_DIR) + "/" + std::string(path);
  std::ifstream file(full, std::ios::binary);
  INFO(full);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace halftone::test
