// A model's float weights as encoded values, and back.
//
// A weight W becomes the encoded initializer "W_encoded", which an ai.rt::Dequantize node turns into a tensor
// of the name W and the type it had: its readers, in subgraphs too, don't change. Weights are initializers
// and Constant nodes of the main graph of type float, double, float16 or bfloat16.
//
// Memory: the encoded messages; the float bytes stay in the store, shared with the model they came from. All
// functions may also fail with kOutOfMemory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/codec_plan.h"
#include "halftone/data_type.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

inline constexpr std::uint64_t kDefaultMinElements = 1024;

struct EncodeWeightsOptions {
  CodecProfile profile = CodecProfile::kInt8;
  // 0: 128; of int8_per_channel what an index of the first axis holds.
  std::uint64_t block_size = 0;
  // In place of the profile's code book, or for one that was learned: one table for all blocks.
  std::vector<double> codebook;
  // Which of the weights to encode, by name; unset: all. In both cases those with at least `min_elements`.
  std::function<bool(std::string_view name)> chosen;
  std::uint64_t min_elements = kDefaultMinElements;
  // A matrix that nodes MatMul alone read, as their second input, is stored transposed, and a Transpose
  // follows the Dequantize: blocks then lie along the axis that is summed over, as kernels want them
  // (com.microsoft.MatMulBnb4). Without a meaning for onnxruntime's profiles, which cut columns anyway.
  bool transpose_matmul_weights = false;
};

struct EncodedWeight {
  std::string tensor;   // its name as before
  std::string encoded;  // of the encoded initializer
  DataType type = DataType::kFloat;
  std::vector<std::int64_t> dims;  // as encoded
  std::uint64_t float_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t message_bytes = 0;  // payload, descriptor and names
};

// A tensor that stays as it is, and the reason, a sentence.
struct LeftTensor {
  std::string tensor;
  std::string reason;
};

struct EncodedWeights {
  std::shared_ptr<const Model> model;
  std::vector<EncodedWeight> encoded;  // in the order of the graph's tensors
  std::vector<LeftTensor> left;        // chosen, but not encodable: values that aren't finite, no matrix
};

// Scales are calibrated per block, as ai.rt::Quantize does without scales.
// Errors: kInvalidPolicy for a block size that can't be, for a profile that needs a code book which isn't
// given, a transform, or tables of vectors; kTooLarge for a value of 2 GiB, where a .onnx file ends; those of
// reading a weight and of the edit. Nothing to encode is no error.
Result<EncodedWeights> encode_weights(const std::shared_ptr<const Model>& model,
                                      const EncodeWeightsOptions& options);

struct DecodedWeight {
  std::string tensor;   // the initializer that is a plain one again
  std::string encoded;  // where it came from
  DataType type = DataType::kFloat;
  std::uint64_t float_bytes = 0;
};

struct DecodedWeights {
  std::shared_ptr<const Model> model;
  std::vector<DecodedWeight> decoded;
  std::vector<LeftTensor>
      left;  // outputs of Dequantize nodes that don't read an encoded initializer directly
};

// Every ai.rt::Dequantize of an encoded initializer in the main graph becomes a plain initializer of the name
// and type of its output, with the values that the codec decodes; encoded initializers without a reader go.
// The import of ai.rt and the catalogue of struct types stay. Errors: a fault of a value that is read; those
// of decoding.
Result<DecodedWeights> decode_weights(const std::shared_ptr<const Model>& model);

}  // namespace halftone
