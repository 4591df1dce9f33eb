#include "model/tensor_facts.h"

#include <algorithm>

namespace halftone {
namespace {

constexpr std::array<std::uint32_t, 7> kDataFieldNumbers = {
    tensor_field::kFloatData, tensor_field::kInt32Data,  tensor_field::kStringData, tensor_field::kInt64Data,
    tensor_field::kRawData,   tensor_field::kDoubleData, tensor_field::kUint64Data};

// A list longer than this is not counted value by value.
constexpr std::uint64_t kCountLimitBytes = kInlineLimitBytes;
constexpr std::uint64_t kMaxVarintBytes = 10;

std::string text_at(std::span<const std::uint8_t> file, ByteRange range) {
  const auto bytes = file.subspan(range.begin, range.size());
  return {bytes.begin(), bytes.end()};
}

std::uint64_t packed_varint_count(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint64_t>(
      std::count_if(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b < 0x80U; }));
}

void add_packed_dims(std::span<const std::uint8_t> file, ByteRange packed, std::vector<std::int64_t>& dims) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::uint8_t byte : file.subspan(packed.begin, packed.size())) {
    if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if ((byte & 0x80U) != 0) continue;
    dims.push_back(static_cast<std::int64_t>(value));
    value = 0;
    shift = 0;
  }
}

std::pair<std::string, std::string> read_entry(std::span<const std::uint8_t> file, ByteRange range) {
  std::pair<std::string, std::string> entry;
  WireReader reader(file, range);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kEntryKey) entry.first = text_at(file, field.payload);
    if (field.number == kEntryValue) entry.second = text_at(file, field.payload);
  }
  return entry;
}

void add_occurrence(DataField& data, const WireField& field) {
  if (field.type != WireType::kLength) {
    ++data.singles;
    data.bytes += field.payload.size();
    return;
  }
  ++data.chunks;
  data.bytes =
      data.number == tensor_field::kRawData ? field.payload.size() : data.bytes + field.payload.size();
  data.last = field.payload;
}

void add_field(std::span<const std::uint8_t> file, const WireField& field, TensorFacts& facts) {
  switch (field.number) {
    case tensor_field::kDims:
      if (field.type == WireType::kLength) {
        add_packed_dims(file, field.payload, facts.dims);
      } else {
        facts.dims.push_back(static_cast<std::int64_t>(field.value));
      }
      return;
    case tensor_field::kDataType:
      facts.type = static_cast<DataType>(static_cast<std::int32_t>(field.value));
      return;
    case tensor_field::kName:
      facts.name = field.payload;
      return;
    case tensor_field::kSegment:
      facts.segmented = true;
      return;
    case tensor_field::kExternalData:
      facts.external_data.push_back(read_entry(file, field.payload));
      return;
    case tensor_field::kDataLocation:
      // As protobuf reads an enum: cut to 32 bits; a number that it doesn't have is an unknown field and
      // changes nothing.
      if (const auto location = static_cast<std::uint32_t>(field.value); location <= kExternalLocation) {
        facts.external = location == kExternalLocation;
      }
      return;
    default:
      break;
  }
  for (DataField& data : facts.data) {
    if (data.number == field.number) add_occurrence(data, field);
  }
}

Error contradiction(std::string_view name, const std::string& what) {
  return {ErrorCode::kInvalidGraph, "Tensor \"" + std::string(name) + "\" " + what + ".", std::string(name),
          "Export the model again; the file seems to be damaged."};
}

// How many values the field holds, or how many it can hold at most and at least where counting would read
// bulk data.
struct ValueCount {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

ValueCount value_count(std::span<const std::uint8_t> file, const DataField& data) {
  std::uint64_t exact = 0;
  switch (data.number) {
    case tensor_field::kRawData:
      exact = data.bytes;
      break;
    case tensor_field::kFloatData:
      exact = data.bytes / sizeof(float);
      break;
    case tensor_field::kDoubleData:
      exact = data.bytes / sizeof(double);
      break;
    case tensor_field::kStringData:
      exact = data.chunks;
      break;
    default:
      if (data.chunks > 1 || data.bytes > kCountLimitBytes) {
        return {data.bytes / kMaxVarintBytes, data.bytes};
      }
      exact = data.singles + packed_varint_count(file.subspan(data.last.begin, data.last.size()));
      break;
  }
  return {exact, exact};
}

std::optional<std::uint64_t> when(bool belongs, std::uint64_t values) {
  return belongs ? std::optional(values) : std::nullopt;
}

bool is_int32_data_type(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kInt64:
    case DataType::kUint32:
    case DataType::kUint64:
    case DataType::kString:
    case DataType::kComplex64:
    case DataType::kComplex128:
      return false;
    default:
      return data_type_bits(type) != 0;
  }
}

}  // namespace

const DataField* TensorFacts::only_data_field() const {
  const DataField* found = nullptr;
  for (const DataField& field : data) {
    if (!field.holds_data() && !(field.number == tensor_field::kStringData && field.chunks != 0)) continue;
    if (found != nullptr) return nullptr;
    found = &field;
  }
  return found;
}

TensorFacts tensor_facts(std::span<const std::uint8_t> file, ByteRange range) {
  TensorFacts facts;
  for (std::size_t i = 0; i < kDataFieldNumbers.size(); ++i) facts.data[i].number = kDataFieldNumbers[i];
  WireReader reader(file, range);
  WireField field;
  while (reader.next(field)) add_field(file, field, facts);
  return facts;
}

TensorField stored_field(std::uint32_t data_field_number) {
  switch (data_field_number) {
    case tensor_field::kFloatData:
      return TensorField::kFloatData;
    case tensor_field::kDoubleData:
      return TensorField::kDoubleData;
    case tensor_field::kInt32Data:
      return TensorField::kInt32Data;
    case tensor_field::kInt64Data:
      return TensorField::kInt64Data;
    case tensor_field::kUint64Data:
      return TensorField::kUint64Data;
    default:
      return TensorField::kRawData;
  }
}

std::optional<std::uint64_t> expected_values(std::uint32_t data_field_number, DataType type,
                                             std::uint64_t elements) {
  switch (data_field_number) {
    case tensor_field::kFloatData:
      if (type == DataType::kComplex64) return 2 * elements;
      return when(type == DataType::kFloat, elements);
    case tensor_field::kDoubleData:
      if (type == DataType::kComplex128) return 2 * elements;
      return when(type == DataType::kDouble, elements);
    case tensor_field::kInt32Data: {
      const std::size_t bits = data_type_bits(type);
      const std::uint64_t per_value =
          bits != 0 && bits < 8 ? 8 / bits : 1;  // sub-byte types: one packed byte a value
      return when(is_int32_data_type(type), elements / per_value + (elements % per_value != 0 ? 1 : 0));
    }
    case tensor_field::kInt64Data:
      return when(type == DataType::kInt64, elements);
    case tensor_field::kUint64Data:
      return when(type == DataType::kUint32 || type == DataType::kUint64, elements);
    case tensor_field::kStringData:
      return when(type == DataType::kString, elements);
    default:
      return std::nullopt;
  }
}

Result<void> check_tensor(std::span<const std::uint8_t> file, const TensorFacts& facts,
                          std::string_view name) {
  const std::optional<std::uint64_t> elements = element_count(facts.dims);
  if (!elements) return contradiction(name, "has dimensions that are negative or too large to multiply");
  const DataField* data = facts.only_data_field();
  const bool has_data =
      std::any_of(facts.data.begin(), facts.data.end(), [](const auto& f) { return f.holds_data(); });
  if (data == nullptr && has_data) return contradiction(name, "holds its data in two different fields");
  if (facts.type == DataType::kUndefined && (data != nullptr || facts.external)) {
    return contradiction(name, "holds data of no type");
  }
  if (facts.external) {
    if (has_data)
      return contradiction(name, "says that its data is in another file but also holds data itself");
    return {};
  }
  const bool known = data_type_bits(facts.type) != 0 || facts.type == DataType::kString;
  if (!known || facts.segmented) return {};
  if (data == nullptr) {
    if (*elements == 0) return {};
    return contradiction(
        name, "holds no data, but its dimensions ask for " + std::to_string(*elements) + " elements");
  }
  const std::optional<std::uint64_t> expected = data->number == tensor_field::kRawData
                                                    ? raw_byte_count(facts.type, facts.dims)
                                                    : expected_values(data->number, facts.type, *elements);
  if (!expected) {
    return contradiction(name,
                         "holds its data in a field that is not for type " + data_type_name(facts.type));
  }
  const ValueCount count = value_count(file, *data);
  if (*expected < count.least || *expected > count.most) {
    const std::string unit = data->number == tensor_field::kRawData ? " bytes" : " values";
    return contradiction(name, "holds " + std::string(count.least == count.most ? "" : "at most ") +
                                   std::to_string(count.most) + unit +
                                   ", but its type and dimensions ask for " + std::to_string(*expected));
  }
  return {};
}

}  // namespace halftone
