// Codes and values of onnxruntime's profiles.
#include <algorithm>
#include <cmath>
#include <string>

#include "codec/float_elements.h"
#include "codec/ort_parameters.h"
#include "halftone/ort_matmul_nbits.h"
#include "numeric/block_codes.h"

namespace halftone {
namespace {

using codec::load_float;
using codec::rounded_float;
using codec::store_float;

// Columns that are walked together, so that a row's values are read and written by neighbours.
constexpr std::uint64_t kTile = 16;

Error refused(std::string message) {
  return {ErrorCode::kInvalidPolicy, std::move(message), "",
          "Make the plan with make_matmul_nbits_plan and set only scales and zero points."};
}

std::string place(const MatMulNBitsLayout& layout, std::uint64_t block) {
  return "column " + std::to_string(block / layout.groups()) + ", rows from " +
         std::to_string(block % layout.groups() * layout.block_size);
}

// One number per block, or one for all.
double of_block(const std::vector<double>& numbers, std::uint64_t block) {
  return numbers.size() == 1 ? numbers[0] : numbers[static_cast<std::size_t>(block)];
}

Result<MatMulNBitsLayout> layout_of(const CodecTensor& x, const CodecPlan& plan) {
  if (x.type != DataType::kFloat && x.type != DataType::kFloat16 && x.type != DataType::kBfloat16) {
    return Error{
        ErrorCode::kUnsupportedType,
        "MatMulNBits requires a FLOAT, FLOAT16 or BFLOAT16 tensor, not " + data_type_name(x.type) + ".", "",
        "Convert the tensor, or choose another profile."};
  }
  if (!codec_profile_info(plan.profile).ort || !plan.matrix_shape || plan.runs.size() != 1) {
    return refused("A plan of MatMulNBits has a matrix shape and exactly one run.");
  }
  const CodecRun& run = plan.runs[0];
  const Result<CodecPlan> model =
      make_matmul_nbits_plan(plan.profile, plan.matrix_shape->k, plan.matrix_shape->n, run.layout.count);
  if (!model) return model.error();
  if (!(run.layout == model.value().runs[0].layout) || run.blocks != model.value().runs[0].blocks) {
    return refused("The layout of a MatMulNBits plan was edited.");
  }
  const bool plain = plan.permutation.empty() && plan.transform_size == 0 && plan.forward.empty() &&
                     plan.inverse.empty() && plan.outliers.empty() && run.codebooks.empty();
  const bool no_offsets =
      std::all_of(run.offsets.begin(), run.offsets.end(), [](double offset) { return offset == 0.0; });
  if (!plain || !no_offsets) {
    return refused("MatMulNBits has no offset, codebook, permutation, transform or outliers.");
  }
  for (const std::vector<double>* numbers : {&run.scales, &run.zero_points}) {
    if (numbers->size() != 1 && numbers->size() != run.blocks) {
      return refused("A MatMulNBits plan needs one scale and one zero point, or one per block.");
    }
  }
  const MatrixShape shape = *plan.matrix_shape;
  const bool is_matrix = x.dims.size() == 2 && x.dims[0] >= 0 && x.dims[1] >= 0 &&
                         static_cast<std::uint64_t>(x.dims[0]) == shape.k &&
                         static_cast<std::uint64_t>(x.dims[1]) == shape.n;
  if (!is_matrix || raw_byte_count(x.type, x.dims) != x.bytes.size()) {
    return Error{ErrorCode::kShapeMismatch,
                 "The tensor's shape isn't the " + std::to_string(shape.k) + " x " + std::to_string(shape.n) +
                     " matrix of the MatMulNBits plan.",
                 "", "Make a plan for this tensor."};
  }
  MatMulNBitsLayout layout;
  layout.profile = plan.profile;
  layout.bits = run.layout.bits;
  layout.block_size = run.layout.count;
  layout.k = shape.k;
  layout.n = shape.n;
  layout.type = x.type;
  return layout;
}

// Element (row, column).
double element(const CodecTensor& x, const MatMulNBitsLayout& layout, std::uint64_t row,
               std::uint64_t column) {
  const std::size_t bytes = data_type_bits(x.type) / 8;
  return load_float(x.type, x.bytes.data() + static_cast<std::size_t>(row * layout.n + column) * bytes);
}

Result<void> check_elements(const CodecTensor& x, const MatMulNBitsLayout& layout) {
  const std::size_t bytes = data_type_bits(x.type) / 8;
  const auto count = static_cast<std::size_t>(layout.k * layout.n);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(load_float(x.type, x.bytes.data() + i * bytes))) continue;
    return Error{ErrorCode::kNonFinite, "Values to be encoded must be finite.",
                 "element " + std::to_string(i), "Replace NaN and infinity, or leave this tensor as it is."};
  }
  return {};
}

// Scales and zero points as they are stored.
struct Parameters {
  std::vector<double> scales;
  std::vector<double> zero_points;
};

Result<double> rounded_parameter(const MatMulNBitsLayout& layout, double x, std::uint64_t block,
                                 const char* what) {
  const double rounded = rounded_float(layout.type, x);
  if (std::isfinite(x) && std::isfinite(rounded)) return rounded;
  return Error{ErrorCode::kNonFinite,
               std::string("The ") + what + " of a MatMulNBits block must be finite as " +
                   data_type_name(layout.type) + ".",
               place(layout, block), "Correct it, or use a wider type."};
}

Result<Parameters> parameters_of(const MatMulNBitsLayout& layout, const CodecRun& run) {
  Parameters parameters;
  parameters.scales.reserve(static_cast<std::size_t>(run.blocks));
  parameters.zero_points.reserve(static_cast<std::size_t>(run.blocks));
  for (std::uint64_t block = 0; block < run.blocks; ++block) {
    const double exact = of_block(run.scales, block);
    const Result<double> scale = rounded_parameter(layout, exact, block, "scale");
    if (!scale) return scale.error();
    if (scale.value() == 0.0 && exact != 0.0) {
      return Error{ErrorCode::kInvalidPolicy,
                   "A scale underflows to 0 as " + data_type_name(layout.type) + ".", place(layout, block),
                   "Scale the tensor up, or use a wider type."};
    }
    const Result<double> zero_point =
        rounded_parameter(layout, of_block(run.zero_points, block), block, "zero point");
    if (!zero_point) return zero_point.error();
    parameters.scales.push_back(scale.value());
    parameters.zero_points.push_back(zero_point.value());
  }
  return parameters;
}

MatMulNBitsLayout::ZeroPoints form_of(const MatMulNBitsLayout& layout,
                                      const std::vector<double>& zero_points) {
  const double midpoint = static_cast<double>(1U << (layout.bits - 1U));
  const double highest = static_cast<double>((1U << layout.bits) - 1U);
  const auto is_code = [highest](double z) { return z >= 0.0 && z <= highest && std::nearbyint(z) == z; };
  if (std::all_of(zero_points.begin(), zero_points.end(), [midpoint](double z) { return z == midpoint; })) {
    return MatMulNBitsLayout::ZeroPoints::kMidpoint;
  }
  return std::all_of(zero_points.begin(), zero_points.end(), is_code)
             ? MatMulNBitsLayout::ZeroPoints::kPacked
             : MatMulNBitsLayout::ZeroPoints::kSourceType;
}

// Adds a code to bytes that are 0 there.
void put_code(std::uint8_t* bytes, std::uint64_t index, std::uint32_t bits, std::uint32_t code) {
  const std::uint64_t bit = index * bits;
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | code << bit % 8);
}

std::uint32_t get_code(const std::uint8_t* bytes, std::uint64_t index, std::uint32_t bits) {
  const std::uint64_t bit = index * bits;
  return bytes[bit / 8] >> bit % 8 & ((1U << bits) - 1U);
}

void store_parameters(const MatMulNBitsLayout& layout, const Parameters& parameters, std::uint8_t* to) {
  const std::size_t bytes = data_type_bits(layout.type) / 8;
  for (const double scale : parameters.scales) {
    store_float(layout.type, scale, to);
    to += bytes;
  }
  const std::uint64_t groups = layout.groups();
  for (std::size_t block = 0; block < parameters.zero_points.size(); ++block) {
    const double zero_point = parameters.zero_points[block];
    if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType) {
      store_float(layout.type, zero_point, to + block * bytes);
    } else if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kPacked) {
      put_code(to + block / groups * layout.packed_column_bytes(), block % groups, layout.bits,
               static_cast<std::uint32_t>(zero_point));
    }
  }
}

// The double path of affine_code is exact enough for zero points that are near codes.
std::uint32_t code_of(double value, double scale, double zero_point, std::uint32_t bits) {
  constexpr double kNearCodes = 65536.0;
  const double highest = numeric::highest_code(bits, false);
  if (scale == 0.0) return static_cast<std::uint32_t>(std::nearbyint(std::clamp(zero_point, 0.0, highest)));
  const numeric::AffineBlock block = {scale, zero_point, 0.0, 0.0, highest};
  const std::int32_t code = std::fabs(zero_point) <= kNearCodes
                                ? numeric::affine_code(value, block)
                                : numeric::exact_affine_code<numeric::Extended>(value, block);
  return static_cast<std::uint32_t>(code);
}

Result<void> encode_element(const CodecTensor& x, const MatMulNBitsLayout& layout,
                            const Parameters& parameters, std::uint64_t row, std::uint64_t column,
                            std::uint8_t* weights) {
  const std::uint64_t block = column * layout.groups() + row / layout.block_size;
  const double scale = parameters.scales[static_cast<std::size_t>(block)];
  const double zero_point = parameters.zero_points[static_cast<std::size_t>(block)];
  const double value = element(x, layout, row, column);
  if (scale == 0.0 && value != 0.0) {
    return Error{ErrorCode::kInvalidPolicy, "A block with a zero scale has values that aren't 0.",
                 place(layout, block), "Give it a scale."};
  }
  const std::uint32_t code = code_of(value, scale, zero_point, layout.bits);
  const double back = (static_cast<double>(code) - zero_point) * scale;
  if (!std::isfinite(rounded_float(layout.type, back))) {
    return Error{
        ErrorCode::kNonFinite, "A reconstructed value would overflow " + data_type_name(layout.type) + ".",
        "element " + std::to_string(row * layout.n + column), "Choose smaller scales or a wider type."};
  }
  put_code(weights + block * layout.group_bytes(), row % layout.block_size, layout.bits, code);
  return {};
}

Result<void> encode_columns(const CodecTensor& x, const MatMulNBitsLayout& layout,
                            const Parameters& parameters, std::uint8_t* weights) {
  for (std::uint64_t first = 0; first < layout.n; first += kTile) {
    const std::uint64_t end = std::min(layout.n, first + kTile);
    for (std::uint64_t row = 0; row < layout.k; ++row) {
      for (std::uint64_t column = first; column < end; ++column) {
        const Result<void> done = encode_element(x, layout, parameters, row, column, weights);
        if (!done) return done;
      }
    }
  }
  return {};
}

Parameters stored_parameters(const MatMulNBitsInputs& inputs) {
  const MatMulNBitsLayout& layout = inputs.layout;
  const std::size_t bytes = data_type_bits(layout.type) / 8;
  const std::size_t blocks = inputs.scales.size() / bytes;
  Parameters parameters;
  parameters.zero_points.assign(blocks, static_cast<double>(1U << (layout.bits - 1U)));
  for (std::size_t block = 0; block < blocks; ++block) {
    parameters.scales.push_back(load_float(layout.type, inputs.scales.data() + block * bytes));
    if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType) {
      parameters.zero_points[block] = load_float(layout.type, inputs.zero_points.data() + block * bytes);
    } else if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kPacked) {
      const std::uint8_t* column =
          inputs.zero_points.data() + block / layout.groups() * layout.packed_column_bytes();
      parameters.zero_points[block] = get_code(column, block % layout.groups(), layout.bits);
    }
  }
  return parameters;
}

}  // namespace

namespace codec {

Result<std::vector<std::uint8_t>> matmul_nbits_parameter_bytes(MatMulNBitsLayout& layout,
                                                               const CodecRun& run) {
  const Result<Parameters> parameters = parameters_of(layout, run);
  if (!parameters) return parameters.error();
  layout.zero_points = form_of(layout, parameters.value().zero_points);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(layout.scale_bytes() + layout.zero_point_bytes()));
  store_parameters(layout, parameters.value(), bytes.data());
  return bytes;
}

}  // namespace codec

Result<void> calibrate_matmul_nbits(const CodecTensor& x, CodecPlan& plan) {
  const Result<MatMulNBitsLayout> checked = layout_of(x, plan);
  if (!checked) return checked.error();
  const MatMulNBitsLayout& layout = checked.value();
  const Result<void> finite = check_elements(x, layout);
  if (!finite) return finite;
  CodecRun& run = plan.runs[0];
  std::vector<double> scales(static_cast<std::size_t>(run.blocks), 0.0);
  const double highest = numeric::highest_code(layout.bits, false);
  for (std::uint64_t row = 0; row < layout.k; ++row) {
    for (std::uint64_t column = 0; column < layout.n; ++column) {
      const auto block = static_cast<std::size_t>(column * layout.groups() + row / layout.block_size);
      const double value = element(x, layout, row, column);
      const double zero_point = of_block(run.zero_points, block);
      const double low = -zero_point;
      const double high = highest - zero_point;
      if (value > 0.0 && high > 0.0) scales[block] = std::max(scales[block], value / high);
      if (value < 0.0 && low < 0.0) scales[block] = std::max(scales[block], value / low);
    }
  }
  std::replace(scales.begin(), scales.end(), 0.0, 1.0);
  run.scales = std::move(scales);
  return {};
}

Result<EncodedValue> encode_matmul_nbits(const CodecTensor& x, const CodecPlan& plan) {
  const Result<MatMulNBitsLayout> checked = layout_of(x, plan);
  if (!checked) return checked.error();
  MatMulNBitsLayout layout = checked.value();
  const Result<void> finite = check_elements(x, layout);
  if (!finite) return finite.error();
  const Result<Parameters> parameters = parameters_of(layout, plan.runs[0]);
  if (!parameters) return parameters.error();
  layout.zero_points = form_of(layout, parameters.value().zero_points);
  std::vector<std::uint8_t> payload(static_cast<std::size_t>(layout.payload_bytes()));
  const Result<void> encoded = encode_columns(x, layout, parameters.value(), payload.data());
  if (!encoded) return encoded.error();
  store_parameters(layout, parameters.value(), payload.data() + layout.weight_bytes());
  EncodedValue value;
  value.logical_type = TensorType{x.type, x.dims, true};
  value.layout = matmul_nbits_descriptor(layout);
  value.payload = PayloadBytes(std::move(payload));
  return value;
}

Result<std::vector<std::uint8_t>> decode_matmul_nbits(const EncodedValue& value, DataType type,
                                                      const StructCatalogue& catalogue) {
  const Result<MatMulNBitsInputs> inputs = export_matmul_nbits_inputs(value, catalogue);
  if (!inputs) return inputs.error();
  const MatMulNBitsLayout& layout = inputs.value().layout;
  const DataType output = type == DataType::kUndefined ? layout.type : type;
  if (!codec::is_codec_float(output)) {
    return Error{
        ErrorCode::kUnsupportedType,
        "Encoded values decode to FLOAT, DOUBLE, FLOAT16 or BFLOAT16, not to " + data_type_name(output) + ".",
        "", "Choose one of these types."};
  }
  const Parameters parameters = stored_parameters(inputs.value());
  const std::size_t bytes = data_type_bits(output) / 8;
  std::vector<std::uint8_t> values(static_cast<std::size_t>(layout.k * layout.n) * bytes);
  for (std::uint64_t first = 0; first < layout.n; first += kTile) {
    const std::uint64_t end = std::min(layout.n, first + kTile);
    for (std::uint64_t row = 0; row < layout.k; ++row) {
      for (std::uint64_t column = first; column < end; ++column) {
        const auto block = static_cast<std::size_t>(column * layout.groups() + row / layout.block_size);
        const std::uint32_t code = get_code(inputs.value().weights.data() + block * layout.group_bytes(),
                                            row % layout.block_size, layout.bits);
        const double exact =
            (static_cast<double>(code) - parameters.zero_points[block]) * parameters.scales[block];
        const double rounded = rounded_float(output, exact);
        const std::uint64_t index = row * layout.n + column;
        if (!std::isfinite(rounded)) {
          return Error{ErrorCode::kNonFinite,
                       "A decoded value would overflow " + data_type_name(output) + ".",
                       "element " + std::to_string(index), "Choose a wider type."};
        }
        store_float(output, rounded, values.data() + static_cast<std::size_t>(index) * bytes);
      }
    }
  }
  return values;
}

}  // namespace halftone
