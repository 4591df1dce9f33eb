// What a model says in fields that the ONNX library doesn't know, for those who may not see its messages: the
// codec. Views live as long as the Model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/model.h"

namespace halftone {

struct EncodedMessage {
  std::string_view name;  // empty where it has none
  std::span<const std::uint8_t> bytes;
};

// GraphProto.encoded_initializer of the main graph, in the order of the file.
std::vector<EncodedMessage> encoded_messages(const Model& model);

// ModelProto.struct_types, in the order of the file.
std::vector<std::span<const std::uint8_t>> struct_type_messages(const Model& model);

// GraphProto.quantization_annotation of the main graph: a tensor's name, keys and values.
struct TensorNote {
  std::string_view tensor;
  std::vector<std::pair<std::string_view, std::string_view>> entries;
};
std::vector<TensorNote> tensor_notes(const Model& model);

}  // namespace halftone
