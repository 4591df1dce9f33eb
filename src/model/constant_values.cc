// Arithmetic of constant folding: conversions and permutations of plain values.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "model/constant_folding.h"

namespace halftone {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t byte;
};

float widen(Bfloat value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U); }

float widen(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (value.bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = value.bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
  const float small =
      std::ldexp(static_cast<float>(fraction), -24);  // exact: denormals of float16 are normal float32
  return sign != 0 ? -small : small;
}

template <typename T>
auto number(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    return widen(value);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<std::uint8_t>(value.byte != 0 ? 1 : 0);
  } else {
    return value;
  }
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^digits is the first value beyond the range, and exact in both float types.
    const auto beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const auto lowest = std::is_signed_v<To> ? -beyond : From{0};
    if (std::isnan(value)) return To{0};
    if (value >= beyond) return std::numeric_limits<To>::max();
    if (value <= lowest) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
std::vector<std::uint8_t> cast_all(std::span<const std::uint8_t> values) {
  const std::size_t count = values.size() / sizeof(From);
  std::vector<std::uint8_t> made(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, values.data() + i * sizeof(From), sizeof(From));
    const To to = convert<To>(number(from));
    std::memcpy(made.data() + i * sizeof(To), &to, sizeof(To));
  }
  return made;
}

template <typename From>
std::vector<std::uint8_t> cast_to(std::span<const std::uint8_t> values, DataType to) {
  switch (to) {
    case DataType::kFloat:
      return cast_all<From, float>(values);
    case DataType::kInt8:
      return cast_all<From, std::int8_t>(values);
    case DataType::kUint8:
      return cast_all<From, std::uint8_t>(values);
    case DataType::kInt16:
      return cast_all<From, std::int16_t>(values);
    case DataType::kUint16:
      return cast_all<From, std::uint16_t>(values);
    case DataType::kInt32:
      return cast_all<From, std::int32_t>(values);
    case DataType::kUint32:
      return cast_all<From, std::uint32_t>(values);
    case DataType::kInt64:
      return cast_all<From, std::int64_t>(values);
    case DataType::kUint64:
      return cast_all<From, std::uint64_t>(values);
    default:
      return {};
  }
}

bool is_integer(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kInt64:
    case DataType::kUint64:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool can_cast(DataType from, DataType to) {
  const bool readable = is_integer(from) || from == DataType::kFloat || from == DataType::kFloat16 ||
                        from == DataType::kBfloat16 || from == DataType::kDouble || from == DataType::kBool;
  return readable && (to == DataType::kFloat || is_integer(to));
}

std::vector<std::uint8_t> cast_values(std::span<const std::uint8_t> values, DataType from, DataType to) {
  switch (from) {
    case DataType::kFloat:
      return cast_to<float>(values, to);
    case DataType::kDouble:
      return cast_to<double>(values, to);
    case DataType::kFloat16:
      return cast_to<Half>(values, to);
    case DataType::kBfloat16:
      return cast_to<Bfloat>(values, to);
    case DataType::kBool:
      return cast_to<Bool>(values, to);
    case DataType::kInt8:
      return cast_to<std::int8_t>(values, to);
    case DataType::kUint8:
      return cast_to<std::uint8_t>(values, to);
    case DataType::kInt16:
      return cast_to<std::int16_t>(values, to);
    case DataType::kUint16:
      return cast_to<std::uint16_t>(values, to);
    case DataType::kInt32:
      return cast_to<std::int32_t>(values, to);
    case DataType::kUint32:
      return cast_to<std::uint32_t>(values, to);
    case DataType::kInt64:
      return cast_to<std::int64_t>(values, to);
    case DataType::kUint64:
      return cast_to<std::uint64_t>(values, to);
    default:
      return {};
  }
}

std::vector<std::uint8_t> transpose_values(std::span<const std::uint8_t> values, std::size_t element_bytes,
                                           std::span<const std::int64_t> dims,
                                           std::span<const std::int64_t> permutation) {
  std::vector<std::uint8_t> made(values.size());
  if (values.empty()) return made;
  const std::size_t rank = dims.size();
  if (rank == 0) {
    std::memcpy(made.data(), values.data(), values.size());
    return made;
  }
  std::vector<std::size_t> strides(rank);  // of the input, in bytes
  std::size_t stride = element_bytes;
  for (std::size_t axis = rank; axis > 0; --axis) {
    strides[axis - 1] = stride;
    stride *= static_cast<std::size_t>(dims[axis - 1]);
  }
  const auto source_axis = [&](std::size_t axis) { return static_cast<std::size_t>(permutation[axis]); };
  const std::size_t inner = static_cast<std::size_t>(dims[source_axis(rank - 1)]);
  const std::size_t inner_stride = strides[source_axis(rank - 1)];
  std::vector<std::size_t> index(rank, 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < made.size();) {
    for (std::size_t i = 0; i < inner; ++i, to += element_bytes) {
      std::memcpy(made.data() + to, values.data() + from + i * inner_stride, element_bytes);
    }
    for (std::size_t axis = rank - 1; axis > 0; --axis) {
      const std::size_t outer = axis - 1;
      from += strides[source_axis(outer)];
      if (++index[outer] < static_cast<std::size_t>(dims[source_axis(outer)])) break;
      from -= strides[source_axis(outer)] * index[outer];
      index[outer] = 0;
    }
  }
  return made;
}

}  // namespace halftone
