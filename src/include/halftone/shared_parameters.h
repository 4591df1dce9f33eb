// Parameter sets that several encoded values share: everything but codes and outlier values is stored once,
// in a model's root graph, and values become small.
//
// A set is declared by a TensorAnnotation named "onnx_light.quantization.parameters:<name>", whose entries
// map roles to initializers. A compact value has the struct type "onnx_light.quantization.shared.v1" (one
// field `local`, UINT8 [size]), the set's name as parameter_ref, and the payload 0 | outlier values float64[]
// | code bytes of each block; of an onnxruntime profile 0 | B. Materializing puts a full value together
// again.
//
// Source: onnx-light, quantization.cc (shared parameters of format v1). Words in double quotes are parts of
// messages.
// Ownership: a set owns its numbers. Threading: plain data, const calls may run at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/codec.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone {

inline constexpr std::string_view kSharedParametersPrefix = "onnx_light.quantization.parameters:";
inline constexpr std::string_view kSharedTypeName = "onnx_light.quantization.shared.v1";

// storage_type and logical_type are rank-1 uint8 tensors with a serialized StructTypeProto and TypeProto; the
// others are the inputs of ai.rt::Quantize of the same names.
struct ParameterRole {
  std::string role;
  CodecTensor tensor;
};

class SharedParameterSet {
 public:
  // Reads a declaration.
  // Errors (kInvalidGraph): an unknown "role", one twice, or storage_type or logical_type missing or no
  // rank-1 uint8; no "fixed scales"; a storage type that isn't a descriptor of the codec or doesn't fit the
  // logical type ("incompatible"); those of plan_from_inputs and make_matmul_nbits_plan.
  static Result<SharedParameterSet> make(std::string name, std::span<const ParameterRole> roles,
                                         const StructCatalogue& catalogue = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  // As declared: a descriptor, or a reference to one. Quantize's `type` has to equal it.
  [[nodiscard]] const StructType& storage_type() const { return storage_type_; }
  [[nodiscard]] const TensorType& logical_type() const { return logical_type_; }
  [[nodiscard]] StructType compact_type() const;
  [[nodiscard]] std::uint64_t compact_bytes() const;  // of a payload

  // Encodes with the set's parameters: nothing is calibrated, values out of range saturate.
  // Errors: kInvalidPolicy where x hasn't the declared type and shape ("incompatible"); those of encoding.
  Result<EncodedValue> encode(const CodecTensor& x) const;

  // The full value: storage type inline, no parameter_ref. What the codes are is checked by decoding it.
  // Errors: kInvalidPolicy for a value of another set ("parameter_ref"); kInvalidGraph for another type,
  // shape or size ("incompatible"), and for a "reserved" byte that isn't 0; kInvalidState for a payload that
  // isn't loaded.
  Result<EncodedValue> materialize(const EncodedValue& compact) const;

 private:
  SharedParameterSet() = default;
  Result<void> adopt(const QuantizeInputs& inputs);
  Result<void> adopt_matrix(const QuantizeInputs& inputs);
  [[nodiscard]] std::vector<std::uint8_t> local_bytes(std::span<const std::uint8_t> payload) const;
  [[nodiscard]] std::vector<std::uint8_t> full_bytes(std::span<const std::uint8_t> local) const;

  std::string name_;
  StructType storage_type_;
  StructType descriptor_;  // storage_type_ without references
  TensorType logical_type_;
  CodecPlan plan_;
  CodecSchema schema_;                       // not of an onnxruntime profile
  std::optional<MatMulNBitsLayout> matrix_;  // of one
  std::vector<std::uint8_t> matrix_tail_;    // its scales and zero points
};

}  // namespace halftone
