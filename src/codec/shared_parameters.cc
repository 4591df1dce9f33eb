#include "halftone/shared_parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "codec/float_elements.h"
#include "codec/ort_parameters.h"
#include "codec/struct_reading.h"

namespace halftone {
namespace {

constexpr std::size_t kDouble = sizeof(double);
constexpr std::size_t kRecordHead = 3 * kDouble;  // scale, zero point, offset

Error invalid(const std::string& set, std::string message) {
  return {ErrorCode::kInvalidGraph, std::move(message), "parameter set " + printable(set),
          "Correct the declaration of the set, or declare it again."};
}

Error incompatible(const std::string& set, ErrorCode code) {
  return {code, "A value is incompatible with the type or shape of its parameter set.",
          "parameter set " + printable(set), "Use the set that was made for this type and shape."};
}

// Where an input goes; nullptr for an unknown role.
std::optional<CodecTensor>* input_of(QuantizeInputs& inputs, const std::string& role) {
  const std::map<std::string, std::optional<CodecTensor>*> places = {
      {"scales", &inputs.scales},       {"zero_points", &inputs.zero_points}, {"offsets", &inputs.offsets},
      {"codebooks", &inputs.codebooks}, {"permutation", &inputs.permutation}, {"forward", &inputs.forward},
      {"inverse", &inputs.inverse},     {"outliers", &inputs.outliers}};
  const auto found = places.find(role);
  return found == places.end() ? nullptr : found->second;
}

struct Declaration {
  std::optional<CodecTensor> storage_type;
  std::optional<CodecTensor> logical_type;
  QuantizeInputs inputs;
};

Result<Declaration> read_roles(const std::string& set, std::span<const ParameterRole> roles) {
  Declaration declaration;
  for (const ParameterRole& role : roles) {
    std::optional<CodecTensor>* place = nullptr;
    if (role.role == "storage_type") {
      place = &declaration.storage_type;
    } else if (role.role == "logical_type") {
      place = &declaration.logical_type;
    } else {
      place = input_of(declaration.inputs, role.role);
    }
    if (place == nullptr)
      return invalid(set, "A parameter set has an unknown role, " + printable(role.role) + ".");
    if (place->has_value()) return invalid(set, "A parameter set has the role " + role.role + " twice.");
    *place = role.tensor;
  }
  for (const auto* type : {&declaration.storage_type, &declaration.logical_type}) {
    if (!*type || (*type)->type != DataType::kUint8 || (*type)->dims.size() != 1) {
      return invalid(set, "A parameter set needs the roles storage_type and logical_type, uint8 of rank 1.");
    }
  }
  if (!declaration.inputs.scales) return invalid(set, "A parameter set needs fixed scales.");
  return declaration;
}

Result<TensorType> read_tensor_type(std::span<const std::uint8_t> bytes, const std::string& set) {
  const codec::Message message = {bytes, {0, bytes.size()}, "logical type"};
  Result<ElementType> element = codec::read_element_type(message, 0);
  if (!element) return element.error();
  auto* tensor = std::get_if<TensorType>(&element.value().value);
  if (tensor == nullptr || !tensor->has_shape || !element_count(tensor->dims)) {
    return invalid(set, "The logical type of a parameter set is no tensor of known shape.");
  }
  return std::move(*tensor);
}

void append(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <typename T>
void append_numbers(std::vector<std::uint8_t>& bytes, std::span<const T> numbers) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(numbers.data());
  append(bytes, {first, numbers.size_bytes()});
}

// Numbers of one block, where there may be but one block's for all.
std::span<const double> of_block(const std::vector<double>& numbers, std::uint64_t block, std::size_t each) {
  const std::span<const double> all(numbers);
  return numbers.size() == each ? all : all.subspan(static_cast<std::size_t>(block) * each, each);
}

// Takes the plan's numbers of one block.
void append_record_head(std::vector<std::uint8_t>& bytes, const CodecRun& run, std::uint64_t block,
                        std::size_t table) {
  append_numbers(bytes, of_block(run.scales, block, 1));
  append_numbers(bytes, of_block(run.zero_points, block, 1));
  append_numbers(bytes, of_block(run.offsets, block, 1));
  if (table != 0) append_numbers(bytes, of_block(run.codebooks, block, table));
}

// Rank 0 or 1 with one value or one per block.
Result<std::vector<double>> numbers_of(const CodecTensor& tensor, std::uint64_t blocks,
                                       const std::string& set) {
  const std::optional<std::uint64_t> count = element_count(tensor.dims);
  const bool fits = codec::is_codec_float(tensor.type) && tensor.dims.size() <= 1 && count &&
                    (*count == 1 || *count == blocks) &&
                    raw_byte_count(tensor.type, tensor.dims) == tensor.bytes.size();
  if (!fits) {
    return invalid(set, "Scales and zero points of a parameter set must be floats, scalar or one per block.");
  }
  const std::size_t bytes = data_type_bits(tensor.type) / 8;
  std::vector<double> numbers;
  for (std::size_t i = 0; i < *count; ++i) {
    numbers.push_back(codec::load_float(tensor.type, tensor.bytes.data() + i * bytes));
  }
  return numbers;
}

}  // namespace

Result<SharedParameterSet> SharedParameterSet::make(std::string name, std::span<const ParameterRole> roles,
                                                    const StructCatalogue& catalogue) {
  const Result<Declaration> declaration = read_roles(name, roles);
  if (!declaration) return declaration.error();
  const Result<StructType> storage = read_struct_type(declaration.value().storage_type->bytes);
  if (!storage) return storage.error();
  const Result<StructType> descriptor = resolve_struct_type(storage.value(), catalogue);
  if (!descriptor) return descriptor.error();
  Result<TensorType> logical = read_tensor_type(declaration.value().logical_type->bytes, name);
  if (!logical) return logical.error();
  SharedParameterSet set;
  set.name_ = std::move(name);
  set.storage_type_ = storage.value();
  set.descriptor_ = descriptor.value();
  set.descriptor_.type_id.reset();
  set.logical_type_ = std::move(logical).value();
  const Result<void> adopted = is_matmul_nbits(set.descriptor_) ? set.adopt_matrix(declaration.value().inputs)
                                                                : set.adopt(declaration.value().inputs);
  if (!adopted) return adopted.error();
  return set;
}

Result<void> SharedParameterSet::adopt(const QuantizeInputs& inputs) {
  Result<CodecSchema> schema = parse_codec_schema(descriptor_);
  if (!schema) return schema.error();
  schema_ = std::move(schema).value();
  if (element_count(logical_type_.dims) != schema_.elements || !codec::is_codec_float(logical_type_.type)) {
    return incompatible(name_, ErrorCode::kInvalidGraph);
  }
  Result<CodecPlan> plan = plan_from_inputs(schema_, inputs);
  if (!plan) return plan.error();
  plan_ = std::move(plan).value();
  return check_codec_plan(plan_, schema_.elements);
}

Result<void> SharedParameterSet::adopt_matrix(const QuantizeInputs& inputs) {
  const Result<MatMulNBitsLayout> parsed = parse_matmul_nbits(descriptor_);
  if (!parsed) return parsed.error();
  MatMulNBitsLayout layout = parsed.value();
  const std::vector<std::int64_t>& dims = logical_type_.dims;
  if (dims.size() != 2 || dims[0] <= 0 || logical_type_.type != layout.type ||
      dims[1] != static_cast<std::int64_t>(layout.n)) {
    return incompatible(name_, ErrorCode::kInvalidGraph);
  }
  const std::uint64_t groups = layout.groups();
  layout.k = static_cast<std::uint64_t>(dims[0]);
  if (layout.groups() != groups) return incompatible(name_, ErrorCode::kInvalidGraph);
  if (inputs.offsets || inputs.codebooks || inputs.permutation || inputs.forward || inputs.inverse ||
      inputs.outliers) {
    return invalid(name_, "A parameter set of MatMulNBits has only the roles scales and zero_points.");
  }
  Result<CodecPlan> plan = make_matmul_nbits_plan(layout.profile, layout.k, layout.n, layout.block_size);
  if (!plan) return plan.error();
  CodecRun& run = plan.value().runs[0];
  Result<std::vector<double>> scales = numbers_of(*inputs.scales, run.blocks, name_);
  if (!scales) return scales.error();
  run.scales = std::move(scales).value();
  if (inputs.zero_points) {
    Result<std::vector<double>> zero_points = numbers_of(*inputs.zero_points, run.blocks, name_);
    if (!zero_points) return zero_points.error();
    run.zero_points = std::move(zero_points).value();
  }
  Result<std::vector<std::uint8_t>> tail = codec::matmul_nbits_parameter_bytes(layout, run);
  if (!tail) return tail.error();
  if (layout.zero_points != parsed.value().zero_points) return incompatible(name_, ErrorCode::kInvalidGraph);
  matrix_tail_ = std::move(tail).value();
  matrix_ = layout;
  plan_ = std::move(plan).value();
  return {};
}

std::uint64_t SharedParameterSet::compact_bytes() const {
  if (matrix_) return 1 + matrix_->weight_bytes();
  std::uint64_t bytes = 1 + schema_.outliers * kDouble;
  for (const SchemaRun& run : schema_.runs) bytes += run.blocks * run.sizes.code_bytes;
  return bytes;
}

StructType SharedParameterSet::compact_type() const {
  Structure structure;
  structure.fields.push_back(
      {"local", ElementType{TensorType{DataType::kUint8, {static_cast<std::int64_t>(compact_bytes())}, true}},
       std::nullopt});
  StructType type;
  type.kind = std::move(structure);
  type.name = std::string(kSharedTypeName);
  return type;
}

std::vector<std::uint8_t> SharedParameterSet::local_bytes(std::span<const std::uint8_t> payload) const {
  std::vector<std::uint8_t> local;
  local.reserve(static_cast<std::size_t>(compact_bytes()));
  local.push_back(0);
  if (matrix_) {
    append(local, payload.first(static_cast<std::size_t>(matrix_->weight_bytes())));
    return local;
  }
  const auto outliers = static_cast<std::size_t>(schema_.outliers) * kDouble;
  append(local, payload.subspan(static_cast<std::size_t>(schema_.prefix_bytes) - outliers, outliers));
  for (const SchemaRun& run : schema_.runs) {
    const std::size_t head = kRecordHead + static_cast<std::size_t>(run.sizes.table_values) * kDouble;
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      const std::uint64_t at = run.first_byte + block * run.sizes.record_bytes + head;
      append(local,
             payload.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(run.sizes.code_bytes)));
    }
  }
  return local;
}

std::vector<std::uint8_t> SharedParameterSet::full_bytes(std::span<const std::uint8_t> local) const {
  std::vector<std::uint8_t> full;
  if (matrix_) {
    full.reserve(static_cast<std::size_t>(matrix_->payload_bytes()));
    append(full, local.subspan(1));
    append(full, matrix_tail_);
    return full;
  }
  full.reserve(static_cast<std::size_t>(schema_.payload_bytes));
  full.push_back(0);
  append_numbers(full, std::span<const std::int64_t>(plan_.permutation));
  append_numbers(full, std::span<const double>(plan_.forward));
  append_numbers(full, std::span<const double>(plan_.inverse));
  append_numbers(full, std::span<const std::int64_t>(plan_.outliers));
  std::size_t at = 1;
  const auto take = [&](std::uint64_t bytes) {
    append(full, local.subspan(at, static_cast<std::size_t>(bytes)));
    at += static_cast<std::size_t>(bytes);
  };
  take(schema_.outliers * kDouble);
  for (const CodecRun& run : plan_.runs) {
    const BlockSizes sizes = check_block_layout(run.layout).value();
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      append_record_head(full, run, block, static_cast<std::size_t>(sizes.table_values));
      take(sizes.code_bytes);
    }
  }
  return full;
}

Result<EncodedValue> SharedParameterSet::encode(const CodecTensor& x) const {
  if (x.type != logical_type_.type || x.dims != logical_type_.dims) {
    return incompatible(name_, ErrorCode::kInvalidPolicy);
  }
  Result<EncodedValue> value = matrix_ ? encode_matmul_nbits(x, plan_) : encode_tensor(x, plan_);
  if (!value) return value;
  std::vector<std::uint8_t> local = local_bytes(value.value().payload->bytes());
  value.value().payload = PayloadBytes(std::move(local));
  value.value().layout = compact_type();
  value.value().parameter_ref = name_;
  return value;
}

Result<EncodedValue> SharedParameterSet::materialize(const EncodedValue& compact) const {
  constexpr std::int32_t kExternal = 1;
  if (compact.parameter_ref != name_) {
    return Error{ErrorCode::kInvalidPolicy, "A value's parameter_ref names another parameter set.",
                 "parameter set " + printable(name_), "Use the set that the value names."};
  }
  if (!compact.payload || !compact.external_data.empty() || compact.data_location == kExternal) {
    return Error{ErrorCode::kInvalidState, "The payload of a value with shared parameters isn't loaded.", "",
                 "Load external data first."};
  }
  const auto* type = std::get_if<StructType>(&compact.layout);
  const std::span<const std::uint8_t> local = compact.payload->bytes();
  if (type == nullptr || !(*type == compact_type()) || compact.logical_type != logical_type_ ||
      local.size() != compact_bytes()) {
    return incompatible(name_, ErrorCode::kInvalidGraph);
  }
  if (local[0] != 0) {
    return Error{ErrorCode::kInvalidGraph, "The reserved byte of a value with shared parameters isn't 0.", "",
                 "Encode the tensor again."};
  }
  EncodedValue full;
  full.name = compact.name;
  full.doc_string = compact.doc_string;
  full.logical_type = compact.logical_type;
  full.layout = descriptor_;
  full.payload = PayloadBytes(full_bytes(local));
  return full;
}

}  // namespace halftone
