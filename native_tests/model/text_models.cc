#include "model/text_models.h"

#include <catch2/catch_test_macros.hpp>
#include <exception>

#include "halftone/writer.h"
#include "model/onnx_library.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <onnx/defs/parser.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace halftone::test {

onnx::ModelProto parse_text(const std::string& text) {
  onnx::ModelProto model;
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return model;
}

void name_nodes(onnx::ModelProto& model, std::initializer_list<std::string_view> names) {
  int next = 0;
  for (const std::string_view name : names)
    model.mutable_graph()->mutable_node(next++)->set_name(std::string(name));
}

Result<std::shared_ptr<const Model>> try_open(const onnx::ModelProto& model) {
  const std::string wire = model.SerializeAsString();
  return open_model({reinterpret_cast<const std::uint8_t*>(wire.data()), wire.size()});
}

std::shared_ptr<const Model> open_proto(const onnx::ModelProto& model) {
  Result<std::shared_ptr<const Model>> opened = try_open(model);
  INFO((opened.ok() ? std::string() : opened.error().message));
  REQUIRE(opened.ok());
  return opened.value();
}

std::shared_ptr<const Model> open_text(const std::string& text) { return open_proto(parse_text(text)); }

Error open_error(const onnx::ModelProto& model) {
  const Result<std::shared_ptr<const Model>> opened = try_open(model);
  REQUIRE_FALSE(opened.ok());
  return opened.error();
}

Error open_error(const std::string& text) { return open_error(parse_text(text)); }

onnx::ModelProto written(const std::shared_ptr<const Model>& model) {
  const Result<WrittenModel> pieces = write_model(model, {});
  REQUIRE(pieces.ok());
  const std::vector<std::uint8_t> bytes = pieces.value().model.flatten();
  onnx::ModelProto proto;
  REQUIRE(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return proto;
}

std::string objection(const std::shared_ptr<const Model>& model) {
  register_operators();
  try {
    onnx::checker::check_model(written(model), /*full_check=*/true);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

const GraphTensor& tensor(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  return model.graph().tensor(id);
}

std::string type_text(const Model& model, std::string_view name) {
  const GraphTensor& found = tensor(model, name);
  std::string text = found.type == DataType::kUndefined ? "?" : data_type_name(found.type);
  if (!found.shape) return text;
  text += "[";
  for (std::size_t i = 0; i < found.shape->size(); ++i) {
    const Dimension& dim = (*found.shape)[i];
    if (i > 0) text += ",";
    text += dim.value >= 0 ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return text + "]";
}

std::vector<std::string> warning_codes(const Model& model) {
  std::vector<std::string> codes;
  for (const Warning& warning : model.warnings()) codes.push_back(warning.code);
  return codes;
}

std::vector<std::string> node_texts(const Model& model) {
  std::vector<std::string> texts;
  for (const GraphNode& node : model.graph().nodes()) {
    std::string text = node.op_type + ">";
    for (const TensorId output : node.outputs)
      text += output == kNone ? "-" : model.graph().tensor(output).name;
    texts.push_back(text);
  }
  return texts;
}

}  // namespace halftone::test
