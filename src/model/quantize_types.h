// Types and shapes of QuantizeLinear and DequantizeLinear at every version of them, newer than the ONNX
// library's ones and those of the domain com.microsoft included.
#pragma once

#include <optional>
#include <string_view>

#include "model/inference_scope.h"
#include "model/onnx_messages.h"

namespace halftone {

// The operators of onnx-light's encoded values, ai.rt::Quantize and Dequantize.
bool makes_encoded_value(const onnx::NodeProto& node);
bool reads_encoded_value(const onnx::NodeProto& node);
// What Dequantize makes: its attribute dtype, and the shape of the encoded value, of which `logical_type` is
// the TypeProto's bytes, if they are known. nullopt where it has no dtype that it can have.
std::optional<onnx::TypeProto> decoded_type(const onnx::NodeProto& node, std::string_view logical_type);

// The type of the node's only output: the shape of its first input, and
//   QuantizeLinear:   output_dtype where given, else the zero point's type, else uint8;
//   DequantizeLinear: output_dtype where given, else the scale's type.
// nullopt for any other operator, and where that type isn't known.
std::optional<onnx::TypeProto> quantize_output_type(const onnx::NodeProto& node, const InferenceScope& scope);

}  // namespace halftone
