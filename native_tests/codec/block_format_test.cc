// Known bytes of every block layout, and what is refused.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "codec/block_cases.h"
#include "halftone/small_floats.h"

namespace halftone::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// first / 8, (first + 1) / 8, ...
std::vector<float> eighths(int first, int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<float>(first + i) / 8.0F);
  return x;
}

TEST_CASE("The table of block layouts holds together", "[codec]") {
  std::set<std::string_view> names;
  for (const BlockFormatInfo& info : block_formats()) {
    CHECK(&block_format_info(info.format) == &info);
    CHECK(names.insert(info.name).second);
    CHECK(block_format_from_name(info.name) == info.format);
    CHECK_FALSE(info.source.empty());
    const Result<BlockByteCounts> bytes = block_byte_counts({info.format}, 8 * info.block_size);
    REQUIRE(bytes.ok());
    CHECK(bytes.value().codes == 8U * info.code_bytes);
    CHECK(bytes.value().scales == 8U * info.scale_bytes);
    CHECK(encoded({info.format}, {}) == StoredBlocks{});
  }
  CHECK(names.size() == 19);
  CHECK_FALSE(block_format_from_name("q4_0").has_value());
}

// Made with ggml's reference code.
TEST_CASE("Bytes of GGUF's blocks", "[codec]") {
  const std::pair<BlockFormat, std::string_view> known[] = {
      {BlockFormat::kGgufQ4_0, "0034809191a2a2b3b3c4c4d5d5e6e6f7f7f8"},
      {BlockFormat::kGgufQ4_1, "223400c080809191a2a2b3b3c4c4d5d5e6e6f7f7"},
      {BlockFormat::kGgufQ5_0, "00300000ffff00112233445566778899aabbccddeeff"},
      {BlockFormat::kGgufQ5_1, "003000c00000ffff00112233445566778899aabbccddeeff"},
      {BlockFormat::kGgufQ8_0, "082481899199a1a9b1b9c0c8d0d8e0e8f0f8000810182028303840474f575f676f77"},
      {BlockFormat::kGgufIq4Nl, "fa23809091a1b1b2c2c3d3d4e4e5e5f6f7f7"},
      {BlockFormat::kGgufMxfp4, "7e0e0e1d1d2d2d3c3c4c4b4b5a5a595960"},
  };
  for (const auto& [format, bytes] : known) {
    INFO(block_format_info(format).name);
    CHECK(hex(encoded({format}, eighths(-16, 32)).codes) == bytes);
  }
  CHECK(hex(encoded({BlockFormat::kGgufNvfp4}, eighths(-32, 64)).codes) ==
        "332b2a32efefefefefdedededfdfcfcebeae9e9d50616262637474756565767676767676");
}

TEST_CASE("Values of GGUF's blocks", "[codec]") {
  const auto values = [](BlockFormat format, std::string_view bytes) {
    return decoded({format}, {bytes_of(bytes), {}}, block_format_info(format).block_size);
  };
  const std::vector<float> q4_0 = values(BlockFormat::kGgufQ4_0, "0034809191a2a2b3b3c4c4d5d5e6e6f7f7f8");
  CHECK(q4_0[0] == -2.0F);
  CHECK(q4_0[1] == -1.75F);
  CHECK(q4_0[15] == 0.0F);
  CHECK(q4_0[16] == 0.0F);
  CHECK(q4_0[31] == 1.75F);
  // With d = 1/8 these are exact.
  CHECK(values(BlockFormat::kGgufQ5_0, "00300000ffff00112233445566778899aabbccddeeff") == eighths(-16, 32));
  CHECK(values(BlockFormat::kGgufQ5_1, "003000c00000ffff00112233445566778899aabbccddeeff") ==
        eighths(-16, 32));
  // d = 0.258301, m = -2, in float32.
  const std::vector<float> q4_1 = values(BlockFormat::kGgufQ4_1, "223400c080809191a2a2b3b3c4c4d5d5e6e6f7f7");
  CHECK(q4_1[0] == -2.0F);
  CHECK(q4_1[31] == 15.0F * 0.25830078125F - 2.0F);
  const std::vector<float> q8_0 = values(BlockFormat::kGgufQ8_0,
                                         "082481899199a1a9b1b9c0c8d0d8e0e8f0f8000810182028303840474f575f676f"
                                         "77");
  CHECK(q8_0[0] == -127.0F * 0.0157470703125F);
  CHECK(q8_0[31] == 119.0F * 0.0157470703125F);
  const std::vector<float> iq4 = values(BlockFormat::kGgufIq4Nl, "fa23809091a1b1b2c2c3d3d4e4e5e5f6f7f7");
  CHECK(iq4[0] == -127.0F * float16_value(0x23FA));
  CHECK(iq4[16] == 1.0F * float16_value(0x23FA));
  const std::vector<float> nvfp4 = values(
      BlockFormat::kGgufNvfp4, "332b2a32efefefefefdedededfdfcfcebeae9e9d50616262637474756565767676767676");
  CHECK(nvfp4[0] == -4.125F);
  CHECK(nvfp4[63] == 3.75F);
}

TEST_CASE("Scales of GGUF's NVFP4 that aren't in the range of its encoder", "[codec]") {
  std::vector<std::uint8_t> bytes(36);
  bytes[0] = 0x7F;  // NaN: 0 there
  bytes[1] = 0xFF;  // 480 there
  bytes[2] = 0xB8;  // the highest bit isn't looked at: 1
  bytes[3] = 0x01;
  for (std::size_t sub = 0; sub < 4; ++sub) bytes[4 + 8 * sub] = 0xF7;  // 6 and, eight elements on, -6
  const std::vector<float> y = decoded({BlockFormat::kGgufNvfp4}, {bytes, {}}, 64);
  CHECK(y[0] == 0.0F);
  CHECK(y[16] == 2880.0F);
  CHECK(y[24] == -2880.0F);
  CHECK(y[32] == 6.0F);
  CHECK(y[48] == 6.0F / 512.0F);
}

struct MxCase {
  BlockFormat format;
  MxScaleRule rule;
  std::uint8_t scale;
  std::string_view codes;
  std::vector<float> values;
};

TEST_CASE("Bytes and values of MX blocks", "[codec]") {
  const std::vector<float> x = {0.1F, -0.7F, 1.3F, 2.9F, -5.5F, 7.0F};
  const MxCase cases[] = {
      {BlockFormat::kMxfp4, MxScaleRule::kFloor, 127, "90537f", {0, -0.5F, 1.5F, 3, -6, 6}},
      {BlockFormat::kMxfp4, MxScaleRule::kModeloptCeil, 128, "90316d", {0, -1, 1, 3, -6, 8}},
      {BlockFormat::kMxint8,
       MxScaleRule::kFloor,
       129,
       "02f5152ea870",
       {0.125F, -0.6875F, 1.3125F, 2.875F, -5.5F, 7}},
      {BlockFormat::kMxfp8E4M3,
       MxScaleRule::kFloor,
       121,
       "4de36a74fb7e",
       {0.1015625F, -0.6875F, 1.25F, 3, -5.5F, 7}},
      {BlockFormat::kMxfp6E3M2, MxScaleRule::kFloor, 125, "865c69fe07", {0.09375F, -0.75F, 1.25F, 3, -6, 7}},
      {BlockFormat::kMxfp6E2M3, MxScaleRule::kFloor, 127, "81a950bb07", {0.125F, -0.75F, 1.25F, 3, -5.5F, 7}},
  };
  for (const MxCase& c : cases) {
    INFO(block_format_info(c.format).name);
    const BlockCoding coding = {c.format, 0, c.rule};
    const StoredBlocks blocks = encoded(coding, x);
    CHECK(hex(blocks.codes) == c.codes);
    CHECK(blocks.scales == std::vector<std::uint8_t>{c.scale});
    CHECK(decoded(coding, blocks, x.size()) == c.values);
  }
  // By hand: 7 has exponent 2, so the scale is 2^2 / 2^15; 5.5 lies halfway and goes to the even code.
  const StoredBlocks e5m2 = encoded({BlockFormat::kMxfp8E5M2}, x);
  CHECK(e5m2.scales == std::vector<std::uint8_t>{127 - 13});
  CHECK(decoded({BlockFormat::kMxfp8E5M2}, e5m2, 6) ==
        std::vector<float>{0.09375F, -0.75F, 1.25F, 3.0F, -6.0F, 7.0F});
}

TEST_CASE("What saturates under OCP's scale doesn't under ModelOpt's", "[codec]") {
  const std::vector<float> x = {7.9F, 0.0F};
  const BlockCoding ceil = {BlockFormat::kMxfp4, 0, MxScaleRule::kModeloptCeil};
  CHECK(decoded({BlockFormat::kMxfp4}, encoded({BlockFormat::kMxfp4}, x), 2)[0] == 6.0F);
  CHECK(decoded(ceil, encoded(ceil, x), 2)[0] == 8.0F);
  // At the largest element itself nothing is lost by either.
  CHECK(encoded(ceil, {6.0F}).scales == encoded({BlockFormat::kMxfp4}, {6.0F}).scales);
  CHECK(encoded({BlockFormat::kMxint8}, {1.99F, -1.99F}).codes == std::vector<std::uint8_t>{127, 0x81});
}

TEST_CASE("MX blocks with NaN or infinity are NaN, blocks of zeros and tiny ones are stored", "[codec]") {
  for (const BlockFormat format : {BlockFormat::kMxfp4, BlockFormat::kMxfp6E3M2, BlockFormat::kMxfp6E2M3,
                                   BlockFormat::kMxfp8E4M3, BlockFormat::kMxfp8E5M2, BlockFormat::kMxint8}) {
    INFO(block_format_info(format).name);
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      std::vector<float> x(64, 1.0F);
      x[5] = bad;
      const StoredBlocks blocks = encoded({format}, x);
      CHECK(blocks.scales[0] == 0xFF);
      CHECK(blocks.codes[0] == 0);
      const std::vector<float> y = decoded({format}, blocks, 64);
      CHECK(std::isnan(y[0]));
      CHECK(std::isnan(y[31]));
      CHECK(y[32] == 1.0F);
    }
    const StoredBlocks zeros = encoded({format}, std::vector<float>(32));
    CHECK(zeros == empty_blocks({format}, 32));
    CHECK(decoded({format}, zeros, 32) == std::vector<float>(32));
    // 2^-149 lies far below the smallest scale: rounded to 0 or to the smallest step of it.
    const std::vector<float> tiny = {std::numeric_limits<float>::denorm_min()};
    CHECK(encoded({format}, tiny).scales[0] == 0);
    const std::vector<float> huge = {-std::numeric_limits<float>::max()};
    CHECK(decoded({format}, encoded({format}, huge), 1)[0] <= -std::ldexp(1.5F, 127));
  }
}

TEST_CASE("Bytes and values of NVFP4", "[codec]") {
  const std::vector<float> x = {0.1F, -0.7F, 1.3F, 2.9F, -5.5F, 7.0F};
  const float scale = nvfp4_tensor_scale(7.0F);
  CHECK(scale == 0.0026041667442768812F);
  CHECK(nvfp4_tensor_scale(0.0F) == 1.0F);
  const BlockCoding coding = {BlockFormat::kNvfp4, 0, MxScaleRule::kFloor, scale};
  const StoredBlocks first = encoded(coding, x);
  CHECK(hex(first.codes) == "90427e");
  CHECK(hex(first.scales) == "7e");
  CHECK(decoded(coding, first, 6) ==
        std::vector<float>{0.0F, -0.58333337F, 1.16666675F, 2.33333349F, -4.66666698F, 7.00000048F});
  const StoredBlocks second = encoded(coding, {0.5F, -0.25F, 0.125F, 1.0F});
  CHECK(hex(second.codes) == "b572");
  CHECK(hex(second.scales) == "68");
  CHECK(decoded(coding, second, 4) == std::vector<float>{0.5F, -0.25F, 0.16666667F, 1.0F});
  // A block of zeros has scale 1; one far below the tensor's largest value has the smallest scale.
  CHECK(hex(encoded(coding, {0.0F, -0.0F}).scales) == "38");
  CHECK(hex(encoded(coding, {0.0F, -0.0F}).codes) == "00");
  CHECK(hex(encoded(coding, {1e-9F, -1e-9F}).scales) == "01");
  // The sign stays where a value rounds to zero.
  CHECK(hex(encoded(coding, {1e-9F, -1e-9F}).codes) == "80");
}

TEST_CASE("Bytes and values of bitsandbytes' blocks", "[codec]") {
  const std::vector<float> x = {-8.0F, -3.3F, 0.2F, 7.0F, 4.0F, -1.2F, 8.5F, -14.0F};
  const StoredBlocks nf4 = encoded({BlockFormat::kBitsandbytesNf4}, x);
  CHECK(hex(nf4.codes) == "247ca6d0");
  CHECK(hex(nf4.scales) == "00006041");  // 14
  CHECK(decoded({BlockFormat::kBitsandbytesNf4}, nf4, 8) ==
        std::vector<float>{-7.351022720336914F, -3.9821794033050537F, 0.0F, 6.169937610626221F,
                           3.4455721378326416F, -1.2747005224227905F, 7.876637935638428F, -14.0F});
  const StoredBlocks fp4 = encoded({BlockFormat::kBitsandbytesFp4}, x);
  CHECK(hex(fp4.codes) == "df15792b");
  const std::vector<float> y = decoded({BlockFormat::kBitsandbytesFp4}, fp4, 8);
  CHECK(y == std::vector<float>{-7.0F, -3.5F, 14.0F * 0.005208333333F, 7.0F, 3.5F, -14.0F * 0.005208333333F,
                                14.0F * 0.66666667F, -14.0F});
  // An odd tail has the code of 0 in its low nibble; zeros alone are zeros.
  CHECK(hex(encoded({BlockFormat::kBitsandbytesNf4}, {1.0F}).codes) == "f7");
  CHECK(hex(encoded({BlockFormat::kBitsandbytesFp4}, {1.0F}).codes) == "30");
  CHECK(hex(encoded({BlockFormat::kBitsandbytesNf4}, {0.0F, -0.0F}).codes) == "77");
  // The last threshold lies between 14 and 15; equal is the lower code.
  const float threshold = 0.8614784181118011F;
  CHECK(hex(encoded({BlockFormat::kBitsandbytesNf4}, {1.0F, threshold}).codes) == "fe");
  CHECK(hex(encoded({BlockFormat::kBitsandbytesNf4}, {1.0F, std::nextafter(threshold, 1.0F)}).codes) == "ff");
  // No reciprocal in float32.
  const std::vector<float> denormal = {1e-40F, 0.0F, -1e-40F, 1e-40F};
  CHECK(decoded({BlockFormat::kBitsandbytesNf4}, encoded({BlockFormat::kBitsandbytesNf4}, denormal), 4) ==
        denormal);
}

TEST_CASE("bitsandbytes has blocks of other sizes, the others don't", "[codec]") {
  std::vector<float> x(100, 1.0F);
  for (std::size_t i = 50; i < x.size(); ++i) x[i] = -2.0F;
  for (const std::uint32_t size : {16U, 32U, 128U, 4096U}) {
    const BlockCoding coding = {BlockFormat::kBitsandbytesNf4, size};
    const StoredBlocks blocks = encoded(coding, x);
    CHECK(blocks.scales.size() == (x.size() + size - 1) / size * 4);
    CHECK(blocks.codes.size() == 50);
    CHECK(decoded(coding, blocks, x.size())[99] == -2.0F);
  }
  for (const std::uint32_t size : {1U, 8U, 48U, 8192U}) {
    CHECK(block_byte_counts({BlockFormat::kBitsandbytesFp4, size}, 64).error().code ==
          ErrorCode::kInvalidPolicy);
  }
  CHECK(block_byte_counts({BlockFormat::kMxfp4, 16}, 64).error().code == ErrorCode::kInvalidPolicy);
  CHECK(block_byte_counts({BlockFormat::kMxfp4, 32}, 64).ok());
}

TEST_CASE("Blocks are refused with one clear sentence", "[codec]") {
  std::vector<float> x(32, 1.0F);
  std::vector<std::uint8_t> codes(18);
  std::vector<std::uint8_t> nothing;
  const auto refused = [&](const BlockCoding& coding, std::vector<std::uint8_t>& to) {
    const Result<void> done = encode_blocks(coding, FloatView(x), to, nothing);
    REQUIRE_FALSE(done.ok());
    CHECK_FALSE(done.error().message.empty());
    CHECK_FALSE(done.error().next.empty());
    return done.error();
  };
  x[17] = kNan;
  CHECK(refused({BlockFormat::kGgufQ4_0}, codes).code == ErrorCode::kNonFinite);
  CHECK(refused({BlockFormat::kGgufQ4_0}, codes).where == "element 17");
  x[17] = 1e7F;
  CHECK(refused({BlockFormat::kGgufQ4_0}, codes).code == ErrorCode::kTooLarge);
  x.resize(33);
  CHECK(refused({BlockFormat::kGgufQ4_0}, codes).code == ErrorCode::kShapeMismatch);
  x.resize(32);
  codes.resize(17);
  CHECK(refused({BlockFormat::kGgufQ4_0}, codes).code == ErrorCode::kShapeMismatch);
  CHECK(decode_blocks({BlockFormat::kGgufQ4_0}, codes, nothing, MutableFloatView(x)).error().code ==
        ErrorCode::kShapeMismatch);
  for (const float scale : {0.0F, -1.0F, kNan, kInfinity}) {
    const BlockCoding coding = {BlockFormat::kNvfp4, 0, MxScaleRule::kFloor, scale};
    CHECK(block_byte_counts(coding, 16).error().code == ErrorCode::kInvalidPolicy);
  }
  CHECK(block_byte_counts({BlockFormat::kMxfp4}, std::uint64_t{1} << 61U).error().code ==
        ErrorCode::kTooLarge);
}

TEST_CASE("What float16 can't hold is refused by every GGUF layout with such scales", "[codec]") {
  for (const BlockFormat format :
       {BlockFormat::kGgufQ4_0, BlockFormat::kGgufQ4_1, BlockFormat::kGgufQ5_0, BlockFormat::kGgufQ5_1,
        BlockFormat::kGgufQ8_0, BlockFormat::kGgufIq4Nl, BlockFormat::kGgufQ4K, BlockFormat::kGgufQ6K}) {
    INFO(block_format_info(format).name);
    std::vector<float> x(block_format_info(format).block_size, 1.0F);
    x[3] = -3e38F;
    StoredBlocks blocks = empty_blocks({format}, x.size());
    CHECK(encode_blocks({format}, FloatView(x), blocks.codes, blocks.scales).error().code ==
          ErrorCode::kTooLarge);
    const std::vector<float> zeros(x.size());
    CHECK(decoded({format}, encoded({format}, zeros), zeros.size()) == zeros);
    // Far below float16: all values are 0, none is NaN.
    const std::vector<float> tiny(x.size(), 1e-42F);
    CHECK(decoded({format}, encoded({format}, tiny), tiny.size()) == zeros);
  }
}

}  // namespace
}  // namespace halftone::test
