#include "halftone/data_type.h"

#include <array>
#include <string_view>

namespace halftone {
namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t bits;
};

// Indexed by TensorProto.DataType.
constexpr std::array<TypeFacts, 27> kTypes = {{
    {"undefined", 0},      {"float32", 32},  {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},
}};

const TypeFacts* facts(DataType type) {
  const auto index = static_cast<std::int32_t>(type);
  if (index < 0 || static_cast<std::size_t>(index) >= kTypes.size()) return nullptr;
  return &kTypes[static_cast<std::size_t>(index)];
}

constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 62U;

}  // namespace

std::string data_type_name(DataType type) {
  const TypeFacts* known = facts(type);
  return known != nullptr ? std::string(known->name)
                          : "type_" + std::to_string(static_cast<std::int32_t>(type));
}

std::size_t data_type_bits(DataType type) {
  const TypeFacts* known = facts(type);
  return known != nullptr ? known->bits : 0;
}

std::optional<std::uint64_t> element_count(std::span<const std::int64_t> dims) {
  std::uint64_t count = 1;
  bool zero = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    const auto extent = static_cast<std::uint64_t>(dim);
    if (extent == 0) {
      zero = true;
    } else if (count > kMaxElements / extent) {
      return std::nullopt;
    } else {
      count *= extent;
    }
  }
  return zero ? 0 : count;
}

std::optional<std::uint64_t> raw_byte_count(DataType type, std::span<const std::int64_t> dims) {
  const std::optional<std::uint64_t> count = element_count(dims);
  const std::size_t bits = data_type_bits(type);
  if (!count || bits == 0) return std::nullopt;
  if (bits >= 8) {
    const std::uint64_t bytes = bits / 8;
    if (*count > kMaxElements / bytes) return std::nullopt;
    return *count * bytes;
  }
  const std::uint64_t per_byte = 8 / bits;
  return *count / per_byte + (*count % per_byte != 0 ? 1 : 0);
}

}  // namespace halftone
