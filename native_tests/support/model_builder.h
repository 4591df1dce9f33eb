// Small models for tests from a compact description. Writes protobuf by itself, so that a fault of the reader
// or of the ONNX messages can't hide in both the model and the code under test.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/model.h"

namespace halftone::test {

class ModelBuilder;

// A GraphProto as an attribute (the body of an If, Loop or Scan).
struct Body {
  std::string graph;
};

using AttributeSetting =
    std::pair<std::string, std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, Body>>;
using Dims = std::vector<std::int64_t>;

class ModelBuilder {
 public:
  ModelBuilder& ir_version(std::int64_t version);
  // Without a call, the default domain is imported at 17.
  ModelBuilder& opset(std::int64_t version, std::string_view domain = "");

  // A negative dimension becomes the symbol "N".
  ModelBuilder& input(std::string_view name, const Dims& dims, DataType type = DataType::kFloat);
  ModelBuilder& output(std::string_view name, const Dims& dims, DataType type = DataType::kFloat);
  // Without a type, as a writer leaves it.
  ModelBuilder& untyped_output(std::string_view name);

  ModelBuilder& floats(std::string_view name, const Dims& dims, const std::vector<float>& values);
  // Values that differ from each other: a fixed pseudo-random sequence in [-1, 1), started at `seed`.
  ModelBuilder& random_floats(std::string_view name, const Dims& dims, std::uint32_t seed);
  ModelBuilder& tensor(std::string_view name, DataType type, const Dims& dims, std::string_view raw);
  // The same values in a Constant node.
  ModelBuilder& constant_node(std::string_view name, const Dims& dims, const std::vector<float>& values);

  // onnx-light's extensions, as messages: GraphProto.encoded_initializer, ModelProto.struct_types.
  ModelBuilder& encoded(std::span<const std::uint8_t> message);
  ModelBuilder& struct_type(std::string_view message);
  // A TensorAnnotation.
  ModelBuilder& annotation(std::string_view tensor,
                           const std::vector<std::pair<std::string, std::string>>& entries);
  // Any field at the end of the graph.
  ModelBuilder& graph_field(std::uint32_t number, std::string_view bytes);

  ModelBuilder& node(std::string_view op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, std::string_view name = "",
                     const std::vector<AttributeSetting>& attributes = {}, std::string_view domain = "");

  [[nodiscard]] Body body() const;
  [[nodiscard]] std::vector<std::uint8_t> bytes() const;
  // Fails the running test if the model can't be opened.
  [[nodiscard]] std::shared_ptr<const Model> open() const;

 private:
  std::int64_t ir_version_ = 8;
  std::vector<std::pair<std::string, std::int64_t>> opsets_;
  std::string extensions_;  // ModelProto fields
  std::string graph_;       // GraphProto fields so far; their order doesn't matter
};

// `count` values in [-1, 1) of a fixed pseudo-random sequence.
std::vector<float> random_values(std::size_t count, std::uint32_t seed);

// A file below the golden folder. Fails the running test if it can't be read.
std::vector<std::uint8_t> golden_file(std::string_view path);

}  // namespace halftone::test
