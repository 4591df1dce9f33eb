#include "halftone/encode_weights.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "codec/decoded_nodes.h"
#include "codec/named_error.h"
#include "halftone/codec.h"
#include "halftone/editor.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone {
namespace {

// A .onnx file ends at 2 GiB, and encoded values are inside; what is around a payload fits in 16 MiB.
constexpr std::uint64_t kMaxPayloadBytes = (std::uint64_t{1} << 31U) - (std::uint64_t{1} << 24U);

Error too_large(std::uint64_t bytes) {
  return {ErrorCode::kTooLarge,
          "Its encoded value would have " + std::to_string(bytes) + " bytes, and a .onnx file ends at 2 GiB.",
          "", "Choose larger blocks or another format."};
}

bool is_source_type(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

std::vector<std::uint8_t> flat_message(const EncodedValueFrame& frame, std::uint64_t payload_bytes) {
  std::vector<std::uint8_t> message;
  message.reserve(frame.head.size() + static_cast<std::size_t>(payload_bytes) + frame.tail.size());
  message.assign(frame.head.begin(), frame.head.end());
  message.resize(frame.head.size() + static_cast<std::size_t>(payload_bytes));
  message.insert(message.end(), frame.tail.begin(), frame.tail.end());
  return message;
}

// Matrices of elements of `width` bytes.
std::vector<std::uint8_t> transposed(const CodecTensor& x, std::size_t width) {
  constexpr std::size_t kTile = 32;
  const auto rows = static_cast<std::size_t>(x.dims[0]);
  const auto columns = static_cast<std::size_t>(x.dims[1]);
  std::vector<std::uint8_t> made(x.bytes.size());
  for (std::size_t first = 0; first < columns; first += kTile) {
    const std::size_t end = std::min(columns, first + kTile);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = first; column < end; ++column) {
        std::memcpy(made.data() + (column * rows + row) * width,
                    x.bytes.data() + (row * columns + column) * width, width);
      }
    }
  }
  return made;
}

class WeightEncoding {
 public:
  WeightEncoding(const std::shared_ptr<const Model>& model, const EncodeWeightsOptions& options)
      : model_(model), graph_(model->graph()), options_(options), editor_(model) {}

  Result<EncodedWeights> run() {
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const auto id = static_cast<TensorId>(i);
      if (!is_chosen(graph_.tensor(id))) continue;
      if (Result<void> encoded = encode(id); !encoded) return encoded.error();
    }
    if (made_.encoded.empty()) {
      made_.model = model_;
      return std::move(made_);
    }
    editor_.require_opset(std::string(kEncodedDomain), 1);
    Result<std::shared_ptr<const Model>> model = std::move(editor_).finish();
    if (!model) return model.error();
    made_.model = std::move(model).value();
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is_chosen(const GraphTensor& tensor) const {
    if (!is_source_type(tensor.type) || !tensor.constant) return false;
    const bool stored = tensor.producer == kNone ? tensor.initializer
                                                 : graph_.node(tensor.producer).op_type == "Constant" &&
                                                       graph_.node(tensor.producer).domain.empty();
    if (!stored || (options_.chosen && !options_.chosen(tensor.name))) return false;
    std::uint64_t elements = 1;
    for (const Dimension& dim : tensor.shape.value_or(std::vector<Dimension>()))
      elements *= static_cast<std::uint64_t>(std::max<std::int64_t>(dim.value, 0));
    return elements != 0 && elements >= options_.min_elements;
  }

  // Whether a fault is the tensor's own, so that others can go on.
  static bool is_of_the_tensor(ErrorCode code) {
    return code == ErrorCode::kNonFinite || code == ErrorCode::kShapeMismatch ||
           code == ErrorCode::kUnsupportedType;
  }

  Result<void> encode(TensorId id) {
    const GraphTensor& tensor = graph_.tensor(id);
    const Result<ConstantTensor> constant = model_->constant(id);
    if (!constant) return constant.error();
    CodecTensor x{constant.value().type, constant.value().dims, constant.value().bytes};
    const bool turned = turns(tensor, x);
    std::vector<std::uint8_t> turned_bytes;
    if (turned) {
      turned_bytes = transposed(x, data_type_bits(x.type) / 8);
      std::swap(x.dims[0], x.dims[1]);
      x.bytes = turned_bytes;
    }
    EncodedWeight made{
        tensor.name, editor_.fresh_name(tensor.name + "_encoded"), x.type, x.dims, x.bytes.size(), 0, 0};
    Result<std::vector<std::uint8_t>> message = encode_message(x, made);
    if (!message) {
      if (!is_of_the_tensor(message.error().code))
        return codec::named("weight", tensor.name, message.error());
      made_.left.push_back({tensor.name, message.error().message});
      return {};
    }
    made.message_bytes = message.value().size();
    if (Result<void> added = editor_.add_encoded_initializer(made.encoded, std::move(message).value());
        !added)
      return added;
    replace(id, made, turned);
    made_.encoded.push_back(std::move(made));
    return {};
  }

  [[nodiscard]] bool turns(const GraphTensor& tensor, const CodecTensor& x) const {
    if (!options_.transpose_matmul_weights || codec_profile_info(options_.profile).ort || x.dims.size() != 2)
      return false;
    return !tensor.consumers.empty() && codec::read_by_matmul_only(graph_, tensor);
  }

  [[nodiscard]] std::uint64_t block_size(const CodecTensor& x) const {
    if (options_.block_size != 0) return options_.block_size;
    if (options_.profile != CodecProfile::kInt8PerChannel) return kDefaultBlockSize;
    std::uint64_t channel = 1;
    for (std::size_t i = 1; i < x.dims.size(); ++i) channel *= static_cast<std::uint64_t>(x.dims[i]);
    return channel;
  }

  Result<std::vector<std::uint8_t>> encode_message(const CodecTensor& x, EncodedWeight& made) const {
    return codec_profile_info(options_.profile).ort ? encode_matrix(x, made) : encode_blocks(x, made);
  }

  // Straight into the message.
  Result<std::vector<std::uint8_t>> encode_blocks(const CodecTensor& x, EncodedWeight& made) const {
    const std::uint64_t elements = element_count(x.dims).value_or(0);
    Result<CodecPlan> plan = make_codec_plan(options_.profile, elements, block_size(x));
    if (!plan) return plan.error();
    if (!options_.codebook.empty()) {
      for (CodecRun& run : plan.value().runs) run.codebooks = options_.codebook;
    }
    const Result<BlockEncoder> encoder =
        BlockEncoder::open(std::move(plan).value(), x.type, x.dims, BlockEncoder::Scales::kAutomatic);
    if (!encoder) return encoder.error();
    const CodecSchema& schema = encoder.value().schema();
    EncodedValue value = encoder.value().value_without_payload();
    value.name = made.encoded;
    made.payload_bytes = schema.payload_bytes;
    if (schema.payload_bytes > kMaxPayloadBytes) return too_large(schema.payload_bytes);
    const EncodedValueFrame frame = encoded_value_frame(value, schema.payload_bytes);
    std::vector<std::uint8_t> message = flat_message(frame, schema.payload_bytes);
    const std::span<std::uint8_t> payload =
        std::span(message).subspan(frame.head.size(), static_cast<std::size_t>(schema.payload_bytes));
    const std::vector<std::uint8_t> prefix = encoder.value().prefix();
    std::copy(prefix.begin(), prefix.end(), payload.begin());
    const Result<void> encoded =
        encoder.value().encode(0, schema.blocks, x.bytes, payload.subspan(prefix.size()));
    if (!encoded) return encoded.error();
    return message;
  }

  // Encoded as a whole, then copied once.
  Result<std::vector<std::uint8_t>> encode_matrix(const CodecTensor& x, EncodedWeight& made) const {
    if (x.dims.size() != 2) {
      return Error{ErrorCode::kShapeMismatch,
                   "Profiles of onnxruntime encode matrices, and its shape has " +
                       std::to_string(x.dims.size()) + " dimensions.",
                   "", ""};
    }
    const std::uint64_t size = options_.block_size == 0 ? kDefaultBlockSize : options_.block_size;
    if (size > UINT32_MAX) {
      return Error{ErrorCode::kInvalidPolicy, "A block size of 2^32 or more is too large.", "",
                   "Choose a power of two from 16 on."};
    }
    Result<CodecPlan> plan =
        make_matmul_nbits_plan(options_.profile, static_cast<std::uint64_t>(x.dims[0]),
                               static_cast<std::uint64_t>(x.dims[1]), static_cast<std::uint32_t>(size));
    if (!plan) return plan.error();
    if (Result<void> calibrated = calibrate_matmul_nbits(x, plan.value()); !calibrated)
      return calibrated.error();
    Result<EncodedValue> value = encode_matmul_nbits(x, plan.value());
    if (!value) return value.error();
    value.value().name = made.encoded;
    made.payload_bytes = value.value().payload->size();
    return write_encoded_value(value.value()).flatten();
  }

  void replace(TensorId id, const EncodedWeight& made, bool turned) {
    const GraphTensor& tensor = graph_.tensor(id);
    if (tensor.producer == kNone) {
      editor_.remove_initializer(id);
    } else {
      editor_.remove_node(tensor.producer);
    }
    const std::string decoded = turned ? editor_.fresh_name(tensor.name + "_transposed") : tensor.name;
    editor_.insert_front({"Dequantize",
                          std::string(kEncodedDomain),
                          editor_.fresh_name(tensor.name + "_Dequantize"),
                          {made.encoded},
                          {decoded},
                          {{"dtype", static_cast<std::int64_t>(made.type)}}});
    if (!turned) return;
    editor_.insert_front({"Transpose",
                          "",
                          editor_.fresh_name(tensor.name + "_Transpose"),
                          {decoded},
                          {tensor.name},
                          {{"perm", std::vector<std::int64_t>{1, 0}}}});
  }

  const std::shared_ptr<const Model>& model_;
  const Graph& graph_;
  const EncodeWeightsOptions& options_;
  ModelEditor editor_;
  EncodedWeights made_;
};

}  // namespace

Result<EncodedWeights> encode_weights(const std::shared_ptr<const Model>& model,
                                      const EncodeWeightsOptions& options) try {
  return WeightEncoding(model, options).run();
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kOutOfMemory, "There is not enough memory for the encoded weights.", "", ""};
}

}  // namespace halftone
