// Floats of the four types that encoded values are made from and decoded to, little endian at any address.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "halftone/data_type.h"
#include "halftone/small_floats.h"

namespace halftone::codec {

inline bool is_codec_float(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

template <typename T>
T load_bytes(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Exact. Precondition: is_codec_float(type).
inline double load_float(DataType type, const std::uint8_t* from) {
  switch (type) {
    case DataType::kFloat:
      return static_cast<double>(load_bytes<float>(from));
    case DataType::kFloat16:
      return static_cast<double>(float16_value(load_bytes<std::uint16_t>(from)));
    case DataType::kBfloat16:
      return static_cast<double>(bfloat16_value(load_bytes<std::uint16_t>(from)));
    default:
      return load_bytes<double>(from);
  }
}

// `x` as a value of `type`: rounded to float32 first, then to 16 bits. Infinity beyond the type.
inline double rounded_float(DataType type, double x) {
  const auto single = static_cast<float>(x);
  switch (type) {
    case DataType::kFloat:
      return static_cast<double>(single);
    case DataType::kFloat16:
      return static_cast<double>(float16_value(float16_bits(single)));
    case DataType::kBfloat16:
      return static_cast<double>(bfloat16_value(bfloat16_bits(single)));
    default:
      return x;
  }
}

// Precondition: `x` is a value of `type`.
inline void store_float(DataType type, double x, std::uint8_t* to) {
  const auto single = static_cast<float>(x);
  if (type == DataType::kDouble) {
    std::memcpy(to, &x, sizeof(x));
  } else if (type == DataType::kFloat) {
    std::memcpy(to, &single, sizeof(single));
  } else {
    const std::uint16_t bits = type == DataType::kFloat16 ? float16_bits(single) : bfloat16_bits(single);
    std::memcpy(to, &bits, sizeof(bits));
  }
}

}  // namespace halftone::codec
