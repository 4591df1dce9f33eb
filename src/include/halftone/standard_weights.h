// Encoded initializers in the terms of standard ONNX, and of onnxruntime's own operators, where these have an
// equivalent:
//
//   onnxruntime's profiles, read by MatMul      com.microsoft.MatMulNBits, the same bytes
//   NF4, and bitsandbytes' FP4 as a code book,  com.microsoft.MatMulBnb4, which has blocks along the axis
//   that
//     of a matrix [N, K] that is read through     is summed over: through a Transpose by MatMul, or by Gemm
//     with its transpose                               transB = 1
//   integers and code books of standard values  DequantizeLinear, per tensor, per axis (opset 13) or per
//   block
//     in blocks along one axis                    (opset 21), of the smallest type that holds the codes:
//     int4,
//                                                 uint4, int8 to uint16; float4e2m1 (opset 23) for MXFP4 and
//                                                 NVFP4, float8e4m3fn (opset 19) for FP8 and FP6 (E3M2). Code
//                                                 books of integers (ternary, iq4_nl) become integers
//
// DequantizeLinear multiplies by a float32 scale; encoded values have float64 ones, which are seldom float32.
// Unless rounding is allowed, a weight is converted only if every value stays what the codec decodes, bit for
// bit. With rounding, a scale changes by at most 2^-24 of itself, and a float32 value by at most 2 units in
// its last place (scale and product are rounded where the codec rounds once).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/encode_weights.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

struct StandardOptions {
  bool round_scales = false;  // to float32; and float64 values to float32, where a Dequantize makes such
  bool float4 = true;  // false: what float4e2m1 would hold becomes float8e4m3fn, which onnxruntime runs, with
                       // the same values in twice the bytes
  bool contrib_operators = true;  // MatMulNBits and MatMulBnb4
};

enum class StandardForm : std::uint8_t { kDequantizeLinear, kMatMulNBits, kMatMulBnb4 };

struct StandardWeight {
  std::string tensor;   // what the Dequantize made
  std::string encoded;  // the encoded initializer
  StandardForm form = StandardForm::kDequantizeLinear;
  DataType type = DataType::kUndefined;  // of the stored codes
  std::optional<std::int64_t> axis;      // DequantizeLinear's; none: one scale
  std::int64_t block_size = 0;           // 0: not blocked
  std::uint64_t bytes = 0;               // codes, scales and zero points
  double rounding = 0.0;                 // the largest relative change of a scale; 0: exact
};

struct StandardWeights {
  std::shared_ptr<const Model> model;
  std::vector<StandardWeight> converted;
  std::vector<LeftTensor> left;  // what has no equivalent, by the name that its Dequantize makes
};

// The operator set is raised as far as the types need it. Encoded initializers without a reader go; the
// import of ai.rt and the catalogue of struct types stay. Errors: a fault of a value that is read, or its
// codes'; kUnsupportedOpset where the model can't be raised; those of the edit.
Result<StandardWeights> to_standard(const std::shared_ptr<const Model>& model,
                                    const StandardOptions& options = {});

}  // namespace halftone
