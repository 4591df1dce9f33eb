#include "sensitivity/first_order/node_writer.h"

#include <bit>
#include <cstring>

namespace halftone::first_order_model {
namespace {

constexpr std::int64_t kAxesAreInputs = 18;  // of ReduceMean

template <typename T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

// Numbered, since the editor looks for a free name one by one.
std::string NodeWriter::fresh_name(std::string_view what) {
  return editor_.fresh_name("first_order_" + std::to_string(made_++) + "_" + std::string(what));
}

std::string NodeWriter::add(std::string_view op, std::vector<std::string> inputs, Attributes attributes) {
  return add_with(1, op, std::move(inputs), std::move(attributes)).front();
}

std::vector<std::string> NodeWriter::add_with(std::size_t count, std::string_view op,
                                              std::vector<std::string> inputs, Attributes attributes) {
  NewNode node;
  node.op_type = std::string(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < count; ++i) node.outputs.push_back(fresh_name(op));
  std::vector<std::string> outputs = node.outputs;
  editor_.insert_before(kNone, std::move(node));
  return outputs;
}

std::string NodeWriter::constant(std::string_view what, DataType type, Ints dims,
                                 std::vector<std::uint8_t> bytes) {
  std::string name = fresh_name(what);
  const Result<void> added = editor_.add_initializer(name, type, std::move(dims), std::move(bytes));
  if (!added.ok() && !error_) error_ = added.error();
  return name;
}

std::string NodeWriter::ints(const Ints& values) {
  std::string& name = ints_[values];
  if (name.empty()) {
    name = constant("ints", DataType::kInt64, {static_cast<std::int64_t>(values.size())}, bytes_of(values));
  }
  return name;
}

std::string NodeWriter::integer(std::int64_t value) {
  std::string& name = integers_[value];
  if (name.empty()) name = constant("integer", DataType::kInt64, {}, bytes_of(Ints{value}));
  return name;
}

std::string NodeWriter::number(float value) {
  std::string& name = numbers_[std::bit_cast<std::uint32_t>(value)];
  if (name.empty()) name = constant("number", DataType::kFloat, {}, bytes_of(std::vector<float>{value}));
  return name;
}

std::string NodeWriter::floats(Ints dims, const std::vector<float>& values) {
  return constant("floats", DataType::kFloat, std::move(dims), bytes_of(values));
}

std::string NodeWriter::sum_of(const std::vector<std::string>& terms) {
  return terms.size() == 1 ? terms.front() : add("Sum", terms);
}

std::string NodeWriter::times(const std::string& tensor, float factor) {
  return factor == 1.0F ? tensor : add("Mul", {tensor, number(factor)});
}

std::string NodeWriter::dot(const std::string& a, const std::string& b) {
  return add("ReduceSum", {add("Mul", {a, b})}, {{"keepdims", std::int64_t{0}}});
}

std::string NodeWriter::mean_over(const std::string& tensor, const Ints& axes) {
  if (opset_ < kAxesAreInputs) return add("ReduceMean", {tensor}, {{"axes", axes}});
  return add("ReduceMean", {tensor, ints(axes)});
}

}  // namespace halftone::first_order_model
