// Small models for the tests of src/model, written in ONNX's own text syntax, and what to ask of a model that
// was made.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "model/onnx_messages.h"

namespace halftone::test {

// Fails the running test if the text isn't a model. Nodes have no names: see name_nodes.
onnx::ModelProto parse_text(const std::string& text);
// Names the nodes of the main graph in order.
void name_nodes(onnx::ModelProto& model, std::initializer_list<std::string_view> names);

Result<std::shared_ptr<const Model>> try_open(const onnx::ModelProto& model);
// Fails the running test if the model can't be opened.
std::shared_ptr<const Model> open_proto(const onnx::ModelProto& model);
std::shared_ptr<const Model> open_text(const std::string& text);
Error open_error(const onnx::ModelProto& model);
Error open_error(const std::string& text);

// The model with all its bytes, as our writer makes it.
onnx::ModelProto written(const std::shared_ptr<const Model>& model);
// What the ONNX checker with full type and shape checks says to that; "" if it has no objection.
std::string objection(const std::shared_ptr<const Model>& model);

const GraphTensor& tensor(const Model& model, std::string_view name);
// "float32[1,?,N]", "float32" where the rank isn't known, "?" where nothing is.
std::string type_text(const Model& model, std::string_view name);
std::vector<std::string> warning_codes(const Model& model);
// Operators of the main graph in file order, with their outputs: "Relu>y".
std::vector<std::string> node_texts(const Model& model);

template <typename T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

}  // namespace halftone::test
