#include "codec/element_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "codec/float_elements.h"
#include "codec/plan_checks.h"
#include "numeric/extended.h"

namespace halftone::codec {
namespace {

using numeric::Extended;

template <typename T>
void append_all(const std::vector<T>& values, std::vector<std::uint8_t>& out) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  out.insert(out.end(), bytes, bytes + values.size() * sizeof(T));
}

template <typename T>
std::vector<T> take(std::span<const std::uint8_t>& bytes, std::uint64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  bytes = bytes.subspan(values.size() * sizeof(T));
  return values;
}

// Groups of n values, as row vectors, times the matrix: products and sums in extended precision, rounded
// once. False where a result isn't finite.
bool multiply_groups(std::vector<double>& values, std::uint32_t n, std::span<const double> matrix) {
  std::vector<double> row(n);
  bool finite = true;
  for (std::size_t first = 0; n != 0 && first < values.size(); first += n) {
    for (std::size_t j = 0; j < n; ++j) {
      Extended sum{};
      for (std::size_t k = 0; k < n; ++k)
        sum = sum + Extended(values[first + k]) * Extended(matrix[k * n + j]);
      row[j] = static_cast<double>(sum);
      finite = finite && std::isfinite(row[j]);
    }
    std::copy(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return finite;
}

bool all_finite(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

bool keeps_order(const CodecSchema& schema) {
  return schema.permutation == 0 && schema.transform_size == 0 && schema.outliers == 0;
}

void append_prefix(const PayloadPrefix& prefix, std::vector<std::uint8_t>& payload) {
  payload.push_back(0);
  append_all(prefix.permutation, payload);
  append_all(prefix.forward, payload);
  append_all(prefix.inverse, payload);
  append_all(prefix.outliers, payload);
  append_all(prefix.outlier_values, payload);
}

Result<PayloadPrefix> read_prefix(const CodecSchema& schema, std::span<const std::uint8_t> payload) {
  if (payload[0] != 0) {
    return Error{ErrorCode::kInvalidGraph, "The reserved byte of an encoded value isn't zero.", "byte 0",
                 "Encode the tensor again; this value was changed or written wrongly."};
  }
  std::span<const std::uint8_t> rest = payload.subspan(1);
  const std::uint64_t matrix = std::uint64_t{schema.transform_size} * schema.transform_size;
  PayloadPrefix prefix;
  prefix.transform_size = schema.transform_size;
  prefix.permutation = take<std::int64_t>(rest, schema.permutation);
  prefix.forward = take<double>(rest, matrix);
  prefix.inverse = take<double>(rest, matrix);
  prefix.outliers = take<std::int64_t>(rest, schema.outliers);
  prefix.outlier_values = take<double>(rest, schema.outliers);
  Result<void> checked = check_permutation(prefix.permutation, schema.elements);
  if (checked.ok()) checked = check_outliers(prefix.outliers, schema.elements);
  if (checked.ok())
    checked = check_matrices(schema.transform_size, prefix.forward, prefix.inverse, schema.elements);
  if (!checked.ok()) return as_damage(checked.error());
  if (all_finite(prefix.outlier_values)) return prefix;
  return Error{ErrorCode::kInvalidGraph, "The outliers of an encoded value must be finite.", "",
               "Encode the tensor again; this value was changed or written wrongly."};
}

Result<std::vector<double>> to_block_order(const CodecTensor& x, std::uint64_t count, PayloadPrefix& prefix) {
  const std::size_t width = data_type_bits(x.type) / 8;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_float(x.type, x.bytes.data() + i * width);
    if (std::isfinite(values[i])) continue;
    return Error{ErrorCode::kNonFinite,
                 "All values must be finite to be encoded; one is infinite or no number.",
                 "element " + std::to_string(i), "Replace NaN and infinity first."};
  }
  prefix.outlier_values.clear();
  for (const std::int64_t outlier : prefix.outliers) {
    prefix.outlier_values.push_back(std::exchange(values[static_cast<std::size_t>(outlier)], 0.0));
  }
  if (!prefix.permutation.empty()) {
    std::vector<double> gathered(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      gathered[i] = values[static_cast<std::size_t>(prefix.permutation[i])];
    }
    values = std::move(gathered);
  }
  if (multiply_groups(values, prefix.transform_size, prefix.forward)) return values;
  return Error{ErrorCode::kNonFinite, "The forward transform of a value is an overflow.", "",
               "Use a transform with smaller numbers."};
}

std::vector<double> from_block_order(std::vector<double> values, const PayloadPrefix& prefix) {
  multiply_groups(values, prefix.transform_size, prefix.inverse);
  if (!prefix.permutation.empty()) {
    std::vector<double> scattered(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      scattered[static_cast<std::size_t>(prefix.permutation[i])] = values[i];
    }
    values = std::move(scattered);
  }
  for (std::size_t i = 0; i < prefix.outliers.size(); ++i) {
    values[static_cast<std::size_t>(prefix.outliers[i])] = prefix.outlier_values[i];
  }
  return values;
}

}  // namespace halftone::codec
