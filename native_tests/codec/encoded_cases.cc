#include "codec/encoded_cases.h"

#include <catch2/catch_test_macros.hpp>

namespace halftone::test {

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  unsigned pending = 0;
  bool half = false;
  for (const char c : hex) {
    if (c == ' ') continue;
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    pending = pending * 16 + digit;
    if (half) bytes.push_back(static_cast<std::uint8_t>(pending & 0xFFU));
    half = !half;
  }
  return bytes;
}

OwnedTensor floats(const std::vector<double>& values, DataType type) {
  return shaped(values, {static_cast<std::int64_t>(values.size())}, type);
}

OwnedTensor shaped(const std::vector<double>& values, std::vector<std::int64_t> dims, DataType type) {
  OwnedTensor tensor{type, std::move(dims), {}};
  const std::size_t width = data_type_bits(type) / 8;
  tensor.bytes.resize(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    std::uint8_t* to = tensor.bytes.data() + i * width;
    const std::uint16_t half = type == DataType::kFloat16 ? float16_bits(single) : bfloat16_bits(single);
    if (type == DataType::kDouble) {
      std::memcpy(to, &values[i], sizeof(double));
    } else if (type == DataType::kFloat) {
      std::memcpy(to, &single, sizeof(float));
    } else {
      std::memcpy(to, &half, sizeof(half));
    }
  }
  return tensor;
}

OwnedTensor indices(const std::vector<std::int64_t>& values) {
  OwnedTensor tensor{DataType::kInt64, {static_cast<std::int64_t>(values.size())}, {}};
  tensor.bytes.resize(values.size() * sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<double> to_doubles(std::span<const std::uint8_t> bytes, DataType type) {
  const std::size_t width = data_type_bits(type) / 8;
  std::vector<double> values(bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint8_t* from = bytes.data() + i * width;
    float single = 0;
    std::uint16_t half = 0;
    if (type == DataType::kDouble) {
      std::memcpy(&values[i], from, sizeof(double));
    } else if (type == DataType::kFloat) {
      std::memcpy(&single, from, sizeof(single));
      values[i] = static_cast<double>(single);
    } else {
      std::memcpy(&half, from, sizeof(half));
      values[i] =
          static_cast<double>(type == DataType::kFloat16 ? float16_value(half) : bfloat16_value(half));
    }
  }
  return values;
}

namespace {

template <typename T>
T unwrap(Result<T> result) {
  if (!result.ok()) {
    INFO(result.error().message << " " << result.error().where);
    REQUIRE(result.ok());
  }
  return std::move(result).value();
}

}  // namespace

EncodedValue encoded(const CodecTensor& x, const CodecPlan& plan) { return unwrap(encode_tensor(x, plan)); }

CodecPlan plan_of(CodecProfile profile, std::uint64_t count, std::uint64_t block_size) {
  return unwrap(make_codec_plan(profile, count, block_size));
}

StructType type_of(const CodecPlan& plan) { return codec_descriptor(unwrap(make_codec_schema(plan))); }

EncodedValue quantized(const CodecTensor& x, CodecProfile profile, std::uint64_t block_size,
                       const QuantizeInputs& inputs) {
  const std::uint64_t count = *element_count(x.dims);
  return unwrap(quantize_tensor(x, type_of(plan_of(profile, count, block_size)), inputs));
}

std::vector<double> decoded(const EncodedValue& value, DataType type) {
  return to_doubles(unwrap(decode_tensor(value, type)), type);
}

std::string payload_hex(const EncodedValue& value) { return to_hex(value.payload->bytes()); }

std::string code_hex(const EncodedValue& value) {
  const CodecSchema schema = unwrap(encoded_value_schema(value));
  std::string text;
  for (const SchemaRun& run : schema.runs) {
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      const std::uint64_t end = run.first_byte + (block + 1) * run.sizes.record_bytes;
      const auto codes = value.payload->bytes().subspan(static_cast<std::size_t>(end - run.sizes.code_bytes),
                                                        static_cast<std::size_t>(run.sizes.code_bytes));
      text += (text.empty() ? "" : " ") + to_hex(codes);
    }
  }
  return text;
}

Bytes message(EncodedValue value, std::string_view name) {
  value.name = std::string(name);
  return write_encoded_value(value).flatten();
}

Bytes descriptor(const EncodedValue& value) {
  const std::string bytes = write_struct_type(std::get<StructType>(value.layout));
  return {bytes.begin(), bytes.end()};
}

}  // namespace halftone::test
