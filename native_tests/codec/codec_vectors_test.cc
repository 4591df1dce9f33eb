// Known inputs, numbers and bytes of encoded values. Source: onnx-light's tests and gallery page, and an
// independent codec that reproduces them.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "codec/encoded_cases.h"
#include "halftone/ort_matmul_nbits.h"
#include "support/sha256.h"

namespace halftone {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using Doubles = std::vector<double>;

const Doubles kEight{-8, -4, 0, 7, -16, 0, 8, 14};

QuantizeInputs with_scales(const OwnedTensor& scales) {
  QuantizeInputs inputs;
  inputs.scales = scales;
  return inputs;
}

// A plan of one layout with all blocks' scales set.
CodecPlan scaled(CodecProfile profile, std::uint64_t count, std::uint64_t block_size, double scale) {
  CodecPlan plan = plan_of(profile, count, block_size);
  for (CodecRun& run : plan.runs) run.scales = {scale};
  return plan;
}

std::string codes_of(CodecProfile profile, const Doubles& x, double scale = 1.0) {
  return code_hex(encoded(floats(x), scaled(profile, x.size(), x.size(), scale)));
}

std::string automatic(CodecProfile profile, const Doubles& x, std::uint64_t block_size = 0) {
  return code_hex(quantized(floats(x), profile, block_size == 0 ? x.size() : block_size));
}

}  // namespace

TEST_CASE("int8 with an explicit scale and zero point", "[codec]") {
  const OwnedTensor x = floats({-40, -1, -.6, 0, .6, 1, 40});
  const OwnedTensor scale = floats({.25});
  const OwnedTensor zero_point = floats({-3});
  QuantizeInputs inputs;
  inputs.scales = scale;
  inputs.zero_points = zero_point;
  const EncodedValue value = quantized(x, CodecProfile::kInt8, 7, inputs);
  CHECK(payload_hex(value) == "00000000000000d03f00000000000008c0000000000000000080f9fbfdff017f");
  CHECK(decoded(value) == Doubles{-31.25, -1, -.5, 0, .5, 1, 32.5});
  const Bytes bytes = message(value, "Q");
  CHECK(bytes.size() == 456);
  CHECK(sha256(bytes) == "3d6c75c49878354cfbfedd6647545208cdc474b933ee5680a67caa576539e609");
  CHECK(to_hex(std::span(bytes).first(3)) == "129403");
  CHECK(to_hex(std::span(bytes).subspan(3 + 404, 12)) == "1a0a0a08080112040a020807");
  CHECK(to_hex(std::span(bytes).last(3)) == "3a0151");
}

TEST_CASE("nf4 with automatic and with explicit scales", "[codec]") {
  const OwnedTensor x = floats({-8, -3.3, .2, 7, -16, -1.2, 8.5, 14});
  const EncodedValue value = quantized(x, CodecProfile::kNf4, 4);
  CHECK(code_hex(value) == "30f7 60fd");
  CHECK(value.payload->size() == 309);
  CHECK(descriptor(value).size() == 403);
  CHECK(decoded(value) ==
        Doubles{-8, -3.1593399047851562, 0, 8, -16, -1.4568005800247192, 9.001872062683105, 16});
  CHECK(message(value, "Q").size() == 733);
  CHECK(sha256(message(value, "Q")) == "ca77193f2d9ba50ec916f6bdfe2dee479e87892e918d7687524e2c08db9a82af");

  const OwnedTensor scales = floats({10, 20});
  const EncodedValue explicit_value = quantized(x, CodecProfile::kNf4, 4, with_scales(scales));
  CHECK(code_hex(explicit_value) == "41e7 61ec");
  CHECK(decoded(explicit_value) == Doubles{-6.961928009986877, -2.8444138169288635, 0, 7.229568362236023,
                                           -13.923856019973755, -1.821000725030899, 8.814196586608887,
                                           14.459136724472046});
  CHECK(sha256(message(explicit_value, "Q")) ==
        "361ba7a579764c93fe62c0d026456388facbdd8565cbb169d6b43c68adc22034");
}

TEST_CASE("The tables have their documented bytes", "[codec]") {
  const auto table_hex = [](CodecProfile profile, std::size_t index) {
    const double entry = codec_profile_info(profile).codebook[index];
    Bytes bytes(sizeof(entry));
    std::memcpy(bytes.data(), &entry, sizeof(entry));
    return to_hex(bytes);
  };
  const char* nf4[] = {"000000000000f0bf", "000000203647e6bf", "0000000066cde0bf", "000000005446d9bf",
                       "000000a04934d2bf", "000000e0a7a6c7bf", "000000200e4fb7bf", "0000000000000000",
                       "000000e05f5fb43f", "000000605c99c43f", "000000a09b80cf3f", "0000004067a0d53f",
                       "000000009734dc3f", "00000060f500e23f", "000000607622e73f", "000000000000f03f"};
  for (std::size_t i = 0; i < 16; ++i) CHECK(table_hex(CodecProfile::kNf4, i) == nf4[i]);
  CHECK(table_hex(CodecProfile::kMxfp4, 8) == "0000000000000080");
  CHECK(table_hex(CodecProfile::kFp8E4M3, 127) == "0000000000000080");
  const std::span<const double> fp8 = codec_profile_info(CodecProfile::kFp8E4M3).codebook;
  CHECK(fp8.size() == 254);
  CHECK(fp8[126] == 448);
  CHECK(fp8[253] == -448);
  CHECK(codec_profile_info(CodecProfile::kMxfp6).codebook[31] == 28);
}

TEST_CASE("int4: rounding, calibration, explicit scales", "[codec]") {
  const OwnedTensor seven = floats({-9, -7.5, -.5, .5, 1.5, 6.5, 8});
  const EncodedValue tied = encoded(seven, scaled(CodecProfile::kInt4, 7, 7, 1));
  CHECK(code_hex(tied) == "88006207");
  CHECK(decoded(tied) == Doubles{-8, -8, 0, 0, 2, 6, 7});

  const EncodedValue a1 = quantized(floats(kEight), CodecProfile::kInt4, 4);
  CHECK(payload_hex(a1) ==
        "00000000000000f03f00000000000000000000000000000000c870"
        "0000000000000040000000000000000000000000000000000874");
  CHECK(message(a1, "Q").size() == 477);
  CHECK(sha256(message(a1, "Q")) == "593697650b5fbe994cb27f9a8f1ba4af87bb4bd2fb3e4478d34579b4b3de57b3");

  const OwnedTensor scales = floats({2, 4});
  const EncodedValue given = quantized(floats(kEight), CodecProfile::kInt4, 4, with_scales(scales));
  CHECK(code_hex(given) == "ec40 0c42");
  CHECK(decoded(given) == Doubles{-8, -4, 0, 8, -16, 0, 8, 16});
  CHECK(sha256(message(given, "Q")).substr(0, 16) == "2b01a4c16823b812");

  CHECK(codes_of(CodecProfile::kInt4, {-2, 0, 2}, 2) == "0f01");
}

TEST_CASE("int4 in two runs, the last block being shorter", "[codec]") {
  const OwnedTensor x = floats({.5, 1, 1.5, 2, 2, 4, 6, 8, 4, 8});
  const OwnedTensor scales = floats({.5, 2, 4});
  const EncodedValue value = quantized(x, CodecProfile::kInt4, 4, with_scales(scales));
  CHECK(code_hex(value) == "2143 2143 21");
  const std::string text = to_hex(descriptor(value));
  CHECK(text.find(to_hex(Bytes{'r', 'u', 'n', '_', '0'})) != std::string::npos);
  CHECK(text.find(to_hex(Bytes{'r', 'u', 'n', '_', '2'})) != std::string::npos);
}

TEST_CASE("Integers with automatic scales", "[codec]") {
  const EncodedValue a3 = quantized(floats({-1, .5, 1}), CodecProfile::kInt8, 3);
  CHECK(payload_hex(a3).substr(2, 16) == "080402814020803f");
  CHECK(code_hex(a3) == "81407f");
  CHECK(decoded(a3) == Doubles{-1, .5039370078740157, 1});

  const EncodedValue a4 = quantized(floats({-2, 1}), CodecProfile::kInt8, 2);
  CHECK(payload_hex(a4).substr(2, 16) == "000000000000903f");  // 1/64
  CHECK(code_hex(a4) == "8040");

  CHECK(payload_hex(quantized(floats({0, 0, 0}), CodecProfile::kInt8, 3)) ==
        "00000000000000f03f00000000000000000000000000000000000000");

  const EncodedValue a6 = quantized(floats({-1, -.5, 0, .5, 1}), CodecProfile::kGptq, 5);
  CHECK(payload_hex(a6) == "00922449922449c23f0000000000002040000000000000000041c80f");

  const EncodedValue a7 = quantized(floats({-1, -.5, 0, .25, .5, 1, .75, -.75, .1}), CodecProfile::kQ3K, 9);
  CHECK(payload_hex(a7).substr(2, 16) == "555555555555d53f");
  CHECK(code_hex(a7) == "35a2c900");

  const OwnedTensor seven = floats({7});
  QuantizeInputs inputs;
  inputs.zero_points = seven;
  const EncodedValue a8 = quantized(floats({-3, -1.5, 0, 2}), CodecProfile::kInt4, 4, inputs);
  CHECK(payload_hex(a8).substr(2, 16) == "9a9999999999c93f");
  CHECK(code_hex(a8) == "0877");
  CHECK(decoded(a8) == Doubles{-3, -1.4000000000000001, 0, 0});
}

TEST_CASE("gptq with a zero point and an offset", "[codec]") {
  CodecPlan plan = scaled(CodecProfile::kGptq, 4, 4, .125);
  plan.runs[0].zero_points = {3};
  plan.runs[0].offsets = {3.141};
  const EncodedValue value = encoded(floats({3, 3.125, 3.5, 4}), plan);
  CHECK(payload_hex(value) == "00000000000000c03f000000000000084054e3a59bc420094032a6");
  const Doubles back = decoded(value);
  CHECK(back == Doubles{-1 * .125 + 3.141, 3.141, 3 * .125 + 3.141, 7 * .125 + 3.141});
}

TEST_CASE("exl2 with runs and widths of its own", "[codec]") {
  CodecPlan plan = plan_of(CodecProfile::kExl2, 6, 3);
  plan.runs[0].blocks = 1;
  plan.runs.push_back(plan.runs[0]);
  plan.runs[0].layout.bits = 2;
  plan.runs[0].scales = {.25};
  plan.runs[0].offsets = {1.125};
  plan.runs[1].layout.bits = 5;
  plan.runs[1].scales = {2};
  const EncodedValue value = encoded(floats({.625, 1.125, 1.375, -32, 0, 30}), plan);
  CHECK(code_hex(value) == "12 103c");
  CHECK(decoded(value) == Doubles{.625, 1.125, 1.375, -32, 0, 30});

  CodecPlan three = scaled(CodecProfile::kExl2, 19, 19, .25);
  three.runs[0].layout.bits = 3;
  Doubles x;
  for (int i = 0; i < 19; ++i) x.push_back((i % 8 - 4) * .25);
  CHECK(code_hex(encoded(floats(x), three)) == "ac8f68ac8f68ac01");

  CodecPlan eleven = scaled(CodecProfile::kExl2, 19, 19, .25);
  eleven.runs[0].layout.bits = 11;
  x.clear();
  for (int i = 0; i < 19; ++i) x.push_back((i - 1024) * .25);
  const EncodedValue wide = encoded(floats(x), eleven);
  CHECK(code_hex(wide) == "000ca0000748c0021af080084ca00217c8c0063af081108ca00401");
  CHECK(decoded(wide) == x);
}

TEST_CASE("A scalar and empty tensors", "[codec]") {
  const EncodedValue scalar = encoded(shaped({2}, {}), scaled(CodecProfile::kInt8, 1, 128, 1));
  CHECK(payload_hex(scalar) == "00000000000000f03f0000000000000000000000000000000002");
  CHECK(to_hex(message(scalar, "Q")).find("1a060a0408011200") != std::string::npos);
  CHECK(decoded(scalar) == Doubles{2});

  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{0}, {2, 0}}) {
    const EncodedValue empty = quantized(shaped({}, dims), CodecProfile::kInt8, 128);
    CHECK(payload_hex(empty) == "00");
    CHECK(
        to_hex(descriptor(empty)) ==
        "12c7010a160a087265736572766564120a0a08080212040a0208010a190a0b7065726d75746174696f6e120a0a0808071204"
        "0a0208000a190a07666f7277617264120e0a0c080b12080a0208000a0208000a190a07696e7665727365120e0a0c080b1208"
        "0a0208000a0208000a1d0a0f6f75746c6965725f696e6469636573120a0a08080712040a0208000a1c0a0e6f75746c696572"
        "5f76616c756573120a0a08080b12040a0208000a1f0a06626c6f636b731215c23e1212100a0e0a05636f756e742205100"
        "73a01003a1f6f6e6e785f6c696768742e7175616e74697a6174696f6e2e76312f696e7438");
    CHECK(decoded(empty).empty());
  }
}

TEST_CASE("A code that stands for more than the source's type holds is refused", "[codec]") {
  const OwnedTensor x = floats({1.5 * 0x1p15}, DataType::kFloat16);
  const Result<EncodedValue> refused = encode_tensor(x, scaled(CodecProfile::kInt4, 1, 1, 0x1p15));
  REQUIRE(!refused.ok());
  CHECK(refused.error().message.find("nonfinite") != std::string::npos);
  CHECK(encode_tensor(x, scaled(CodecProfile::kInt4, 1, 1, 0x1p14)).ok());
}

TEST_CASE("Codes of tables", "[codec]") {
  using P = CodecProfile;
  CHECK(codes_of(P::kNf4, {-1, 0, 1}) == "700f");
  CHECK(codes_of(P::kBinary, {-1, 1, 0, 1}) == "0a");
  CHECK(codes_of(P::kTq1_0, {-1, 0, 1, -1, 1, 1, 0}) == "b705");
  CHECK(codes_of(P::kTq2_0, {-1, 0, 1, -1, 1}) == "2402");
  CHECK(automatic(P::kTernary, {-2, -1, 1, .99, 1.01}) == "c6");
  CHECK(codes_of(P::kMxfp4, {.25, .75, 1.25, 1.75, 2.5, 3.5, 5, -.25, -.75, 6, -6, -0.0}) == "10325406790f");
  CHECK(automatic(P::kMxfp4, {12, -3, .1, 0}, 4) == "b700");
  CHECK(codes_of(P::kMxfp6, {28, -28, .0625, .03125, 1.1, -5}) == "df1f004c0d");
  CHECK(codes_of(P::kFp8E4M3, {448, -448, .5, -.5, 0x1p-9, -0x1p-9, 0x1p-10, 1.0625, -1.0625, 0, 17, -0.0}) ==
        "7efd30af01800038b7005800");
  CHECK(codes_of(P::kLog, {.0625, -.0625, .1875, -.1875, 3, -3, 100, -6}) == "0021a9cd");
  CHECK(automatic(P::kIq4Nl, {1, -1, .25, 0, .04}) == "1f8a08");

  const EncodedValue value = encoded(floats({-1, -1, 0, 0, 1, 1, 1, 1}), scaled(P::kIq4Nl, 8, 4, .01));
  CHECK(code_hex(value) == "1188 eeee");
  CHECK(decoded(value)[2] == .01);
}

TEST_CASE("aqlm: two books of vectors, the last vector being shorter", "[codec]") {
  CodecPlan plan = plan_of(CodecProfile::kAqlm, 3, 3);
  BlockLayout& layout = plan.runs[0].layout;
  layout.entries = 2;
  layout.bits = 1;
  layout.vector_size = 2;
  plan.runs[0].codebooks = {0, 0, 10, 20, 0, 0, 1, 2};
  const EncodedValue value = encoded(floats({11, 22, 1}), plan);
  CHECK(code_hex(value) == "0b");
  CHECK(decoded(value) == Doubles{11, 22, 1});
}

TEST_CASE("Plain floats as payload", "[codec]") {
  CodecPlan plan = plan_of(CodecProfile::kTiledFloat, 3, 3);
  plan.runs[0].layout.cast_type = DataType::kFloat16;
  CHECK(code_hex(encoded(floats({1, -2.5, .1}), plan)) == "003c00c1662e");
  plan.runs[0].layout.cast_type = DataType::kBfloat16;
  CHECK(code_hex(encoded(floats({1, -2.5, .1}), plan)) == "803f20c0cd3d");

  CodecPlan columns = plan_of(CodecProfile::kColumnMajor, 6, 6);
  columns.permutation = {0, 3, 1, 4, 2, 5};
  const EncodedValue value = encoded(shaped({0, 1, 2, 3, 4, 5}, {2, 3}), columns);
  CHECK(value.payload->size() == 97);
  CHECK(to_doubles(value.payload->bytes().last(24), DataType::kFloat) == Doubles{0, 3, 1, 4, 2, 5});
  CHECK(decoded(value) == Doubles{0, 1, 2, 3, 4, 5});
}

TEST_CASE("Plain floats keep -0; integers and tables lose it", "[codec]") {
  const OwnedTensor x = floats({-0.0, 1});
  CHECK(std::signbit(decoded(encoded(x, plan_of(CodecProfile::kTiledFloat, 2)))[0]));
  CHECK_FALSE(std::signbit(decoded(encoded(x, plan_of(CodecProfile::kInt4, 2)))[0]));
  CHECK_FALSE(std::signbit(decoded(encoded(x, plan_of(CodecProfile::kMxfp4, 2)))[0]));
}

TEST_CASE("binary: a table for each block, and runs that merge", "[codec]") {
  const OwnedTensor x = floats({-1, 1, -2, 2, -3, 3});
  CodecPlan plan = plan_of(CodecProfile::kBinary, 6, 2);
  plan.runs[0].scales = {1, 2, 1};
  plan.runs[0].codebooks = {-1, 1, -1, 1, -3, 3};
  const EncodedValue whole = encoded(x, plan);
  CHECK(code_hex(whole) == "02 02 02");
  CHECK(decoded(whole) == Doubles{-1, 1, -2, 2, -3, 3});

  CodecPlan split = plan;
  split.runs.assign(3, plan.runs[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    split.runs[i].blocks = 1;
    split.runs[i].scales = {plan.runs[0].scales[i]};
    split.runs[i].codebooks = {plan.runs[0].codebooks[2 * i], plan.runs[0].codebooks[2 * i + 1]};
  }
  CHECK(message(encoded(x, split), "Q") == message(whole, "Q"));
}

TEST_CASE("quarot: outlier, permutation and transform together", "[codec]") {
  CodecPlan plan = plan_of(CodecProfile::kQuarot, 4);
  plan.permutation = {2, 3, 0, 1};
  plan.transform_size = 2;
  plan.forward = {1, 1, 1, -1};
  plan.inverse = {.5, .5, .5, -.5};
  plan.outliers = {1};
  const EncodedValue value = encoded(floats({1, 1000, 2, 3}), plan);
  CHECK(payload_hex(value) ==
        to_hex(from_hex("00 0200000000000000 0300000000000000 0000000000000000 0100000000000000"
                        "000000000000f03f 000000000000f03f 000000000000f03f 000000000000f0bf"
                        "000000000000e03f 000000000000e03f 000000000000e03f 000000000000e0bf"
                        "0100000000000000 0000000000408f40 000000000000f03f"
                        "00000000000000000000000000000000 f511")));
  CHECK(decoded(value) == Doubles{1, 1000, 2, 3});
}

TEST_CASE("int4 with an outlier and an automatic scale", "[codec]") {
  CodecPlan plan = plan_of(CodecProfile::kInt4, 3);
  plan.outliers = {0};
  const OwnedTensor outliers = indices({0});
  QuantizeInputs inputs;
  inputs.outliers = outliers;
  const Result<EncodedValue> value = quantize_tensor(floats({1000, -1, 1}), type_of(plan), inputs);
  REQUIRE(value.ok());
  CHECK(payload_hex(value.value()) == to_hex(from_hex("00 0000000000000000 0000000000408f40 922449922449c23f"
                                                      "0000000000000000 0000000000000000 9007")));
  CHECK(decoded(value.value()) == Doubles{1000, -1, 1});
}

TEST_CASE("Profiles of onnxruntime go through the same functions", "[codec]") {
  const OwnedTensor x = shaped({-1, 1, 0, 2, 1, 3}, {3, 2});
  const Result<CodecPlan> plan = make_matmul_nbits_plan(CodecProfile::kOrtMatMulNBitsInt4, 3, 2, 16);
  REQUIRE(plan.ok());
  const EncodedValue value = encoded(x, plan.value());
  CHECK(payload_hex(value) == "8709000000000000a90b0000000000000000803f0000803f");
  CHECK(decoded(value) == Doubles{-1, 1, 0, 2, 1, 3});
  const StructType& type = std::get<StructType>(value.layout);
  const OwnedTensor one = floats({1});
  const Result<EncodedValue> again = quantize_tensor(x, type, with_scales(one));
  REQUIRE(again.ok());
  CHECK(payload_hex(again.value()) == payload_hex(value));
  // Automatic: 1 / 7 for the first column's 1, which counts more than 1 / 8 for its -1; 3 / 7 for the second.
  const Result<EncodedValue> automatic_value = quantize_tensor(x, type);
  REQUIRE(automatic_value.ok());
  CHECK(to_doubles(automatic_value.value().payload->bytes().last(8), DataType::kFloat) ==
        Doubles{static_cast<double>(1.0F / 7.0F), static_cast<double>(3.0F / 7.0F)});
  const OwnedTensor zero_point = floats({3});
  QuantizeInputs other_type = with_scales(one);
  other_type.zero_points = zero_point;
  CHECK(!quantize_tensor(x, type, other_type).ok());
  QuantizeInputs offsets;
  offsets.offsets = one;
  CHECK(!quantize_tensor(x, type, offsets).ok());
}

}  // namespace halftone
