// All forty portable profiles on one tensor: sizes and hashes of descriptors, payloads and messages, and the
// code bytes. Source: an independent codec that reproduces onnx-light's golden bytes.
#include <catch2/catch_test_macros.hpp>

#include "codec/encoded_cases.h"
#include "support/sha256.h"

namespace halftone {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

struct CatalogueRow {
  const char* name;
  std::size_t descriptor_bytes;
  const char* descriptor_hash;  // the first 16 digits of SHA-256
  std::size_t payload_bytes;    // 0: learned or transformed, descriptor only
  const char* payload_hash;
  std::size_t message_bytes;
  const char* message_hash;
  const char* codes;
};

// Ten values in blocks of 4, 4 and 2, automatic scales, name Q.
constexpr CatalogueRow kCatalogue[] = {
    {"int8", 569, "8cd9601274921c60", 83, "f2e57efe78673352", 672, "85008ef0ef3d1d37",
     "80cb0370 80f64470 7fc0"},
    {"int8_per_channel", 581, "e49d1b2102a4a255", 83, "f2e57efe78673352", 684, "386bfd7c09c90eb6",
     "80cb0370 80f64470 7fc0"},
    {"int4", 569, "465b3fdc0868d229", 78, "4404333fc4ac715b", 667, "f4d180bcdbbfdef2", "d870 f874 c7"},
    {"gptq", 569, "a95612c4ace53a0d", 78, "14198bee9bd30630", 667, "ce3ce446c738a5fa", "50f8 70fc 4f"},
    {"awq", 568, "ffa5eedf2edea538", 78, "14198bee9bd30630", 666, "27aa62adb4569a7f", "50f8 70fc 4f"},
    {"eetq", 569, "1ba1f6860b60da16", 83, "f2e57efe78673352", 672, "06e4721b6ca905da",
     "80cb0370 80f64470 7fc0"},
    {"matmulnbits", 576, "24155cb9a2e2a3a8", 78, "14198bee9bd30630", 674, "219b68d7a32703e5", "50f8 70fc 4f"},
    {"q2_k", 569, "3342339bdb60b341", 76, "a2092dfbc7956379", 665, "ff8a10c8e01a1737", "43 53 01"},
    {"q3_k", 569, "e1463f17897fb65c", 78, "e8072b322ac3da9f", 667, "a0ebfcb05e0b41d9", "3d06 8506 33"},
    {"q4_k", 569, "b1eb796cab9ca1df", 78, "4404333fc4ac715b", 667, "ee6ddaa406c4c0cb", "d870 f874 c7"},
    {"q5_k", 569, "6b2b41af643ec853", 81, "2b3e5c2d70ae0a96", 670, "1f3a93bd78284a40", "300307 f02307 0f03"},
    {"q6_k", 569, "953f002a9b80dd3d", 81, "6fa81dd2283dcffc", 670, "57bbae39417cb3c2", "e01c70 a01f71 1f0c"},
    {"hqq", 568, "daa1cabf472fbda6", 78, "4404333fc4ac715b", 666, "671d112aaeb59eab", "d870 f874 c7"},
    {"exl2", 569, "b64716916441299d", 78, "4404333fc4ac715b", 667, "0d141bc54d3e99c6", "d870 f874 c7"},
    {"exl3", 569, "47025c4ebbe5108c", 78, "4404333fc4ac715b", 667, "ddf3a0b796f4a1b2", "d870 f874 c7"},
    {"nf4", 568, "d1744238761811c3", 462, "d0a100102f8708f8", 1051, "f7e94744c88573c4", "30f7 60fd 2f"},
    {"iq4_nl", 571, "a04b0b1cba1ee600", 462, "640b944816f59272", 1054, "43a3f2a779a5e86c", "40f8 70fd 4f"},
    {"binary", 571, "751775f52f43bc91", 124, "52be8635672b3705", 715, "75cc6ce16a67bc45", "0c 0c 01"},
    {"ternary", 572, "12eecfe072fb9e2c", 148, "e1f6bc9cc6451901", 741, "b21dece4ac0f10fe", "42 4b 02"},
    {"tq1_0", 570, "ca8624fb6b6f2837", 148, "e1f6bc9cc6451901", 739, "67e032d7f270cd0e", "42 4b 02"},
    {"tq2_0", 570, "6aa5030ac8aa3807", 148, "cd2b465ffbe551f6", 739, "36fa19d72ea03645", "94 a4 02"},
    {"bitnet", 571, "99f56cc2f751a0cb", 148, "e1f6bc9cc6451901", 740, "98b5e36b4e16ca79", "42 4b 02"},
    {"paretoq", 572, "9dd9bb4058bb7f9b", 148, "e1f6bc9cc6451901", 741, "3ec49d40f8961f08", "42 4b 02"},
    {"tequila", 572, "df4f8785726f59cb", 148, "e1f6bc9cc6451901", 741, "b1d95d593c01b63c", "42 4b 02"},
    {"stq1_0", 573, "20a6e325ff9afe23", 0, "", 0, "", ""},
    {"iq1_s", 574, "273c1bab529752c2", 0, "", 0, "", ""},
    {"aqlm", 573, "64f496ef97357cdd", 0, "", 0, "", ""},
    {"quip_sharp", 579, "e70696f1cf5b509c", 0, "", 0, "", ""},
    {"spqr", 569, "5058ad4b6490597d", 78, "4404333fc4ac715b", 667, "d3cf30be5df0defb", "d870 f874 c7"},
    {"squeezellm", 575, "96b2597c99a3b2c6", 0, "", 0, "", ""},
    {"log", 568, "7a21431466788990", 438, "c5b249c957b42f1e", 1027, "a8e771e6811842f3", "ced3 6edb cd"},
    {"fp6_llm", 572, "21f58ca678cbb20f", 1617, "a73baac497aefb77", 2210, "a3c2a09867f8585e",
     "bfae78 3fbc79 df0e"},
    {"fp8_e4m3", 577, "500776897ebeec94", 6179, "b3c986e2e75b0b0a", 6777, "d8582167561f5b29",
     "fdf3537c fddf777c 7ef5"},
    {"mxfp4", 570, "583bdc4cf5186839", 462, "eb4ac8156fd35d53", 1053, "6194f783b81b137f", "cf70 9f75 d7"},
    {"mxfp6", 570, "d02e83cf2573b71b", 1617, "a73baac497aefb77", 2208, "979998a9a5fecd57",
     "bfae78 3fbc79 df0e"},
    {"nvfp4", 570, "07b80f383ad89774", 462, "eb4ac8156fd35d53", 1053, "c6a2f4877c259bb9", "cf70 9f75 d7"},
    {"quarot", 571, "f6a52a287ab51d97", 0, "", 0, "", ""},
    {"smoothquant", 576, "ff3a3115a51778a2", 0, "", 0, "", ""},
    {"tiled_float", 576, "1a157f1d5d980086", 113, "7ff66f29dc64d04f", 709, "2ff712d347d610d3",
     "000000c1333353c0cdcc4c3e0000e040 000080c19a9999bf0000084100006041 0000003f000080be"},
    {"column_major", 577, "c18deaa314842182", 113, "7ff66f29dc64d04f", 710, "b2bef9f96b0bc8b8",
     "000000c1333353c0cdcc4c3e0000e040 000080c19a9999bf0000084100006041 0000003f000080be"},
};

}  // namespace

TEST_CASE("All profiles, in their order, with their descriptors, payloads and messages", "[codec]") {
  const OwnedTensor x = floats({-8, -3.3, .2, 7, -16, -1.2, 8.5, 14, .5, -.25});
  REQUIRE(codec_profiles().size() == 43);
  for (std::size_t i = 0; i < std::size(kCatalogue); ++i) {
    const CatalogueRow& row = kCatalogue[i];
    const auto profile = static_cast<CodecProfile>(i);
    CAPTURE(row.name);
    CHECK(codec_profile_info(profile).name == row.name);
    CHECK(parse_codec_profile(row.name).value() == profile);
    const std::string type = write_struct_type(type_of(plan_of(profile, 10, 4)));
    const Bytes type_bytes(type.begin(), type.end());
    CHECK(type_bytes.size() == row.descriptor_bytes);
    CHECK(sha256(type_bytes).substr(0, 16) == row.descriptor_hash);
    if (row.payload_bytes == 0) continue;
    const EncodedValue value = quantized(x, profile, 4);
    CHECK(descriptor(value) == type_bytes);
    CHECK(value.payload->size() == row.payload_bytes);
    CHECK(sha256(value.payload->bytes()).substr(0, 16) == row.payload_hash);
    CHECK(message(value, "Q").size() == row.message_bytes);
    CHECK(sha256(message(value, "Q")).substr(0, 16) == row.message_hash);
    CHECK(code_hex(value) == row.codes);
    const Bytes bytes = message(value, "Q");
    const Result<EncodedValue> read = read_encoded_value(bytes);
    REQUIRE(read.ok());
    CHECK(write_encoded_value(read.value()).flatten() == bytes);
    CHECK(decoded(read.value()) == decoded(value));
  }
}

TEST_CASE("The three profiles of onnxruntime follow", "[codec]") {
  CHECK(codec_profile_info(CodecProfile::kOrtMatMulNBitsInt2).name == "ort_matmulnbits_int2");
  CHECK(static_cast<int>(CodecProfile::kOrtMatMulNBitsInt8) == 42);
  for (const char* name : {"ort_matmulnbits_int2", "ort_matmulnbits_int4", "ort_matmulnbits_int8"}) {
    const Result<CodecProfile> profile = parse_codec_profile(name);
    REQUIRE(profile.ok());
    CHECK(codec_profile_info(profile.value()).ort);
    CHECK(!make_codec_plan(profile.value(), 10).ok());
  }
}

TEST_CASE("A descriptor of two runs, byte for byte", "[codec]") {
  const std::string type = write_struct_type(type_of(plan_of(CodecProfile::kInt4, 10, 4)));
  CHECK(to_hex(Bytes(type.begin(), type.end())) ==
        "1295040a160a087265736572766564120a0a08080212040a0208010a190a0b7065726d75746174696f6e120a0a0808071204"
        "0a0208000a190a07666f7277617264120e0a0c080b12080a0208000a0208000a190a07696e7665727365120e0a0c080b1208"
        "0a0208000a0208000a1d0a0f6f75746c6965725f696e6469636573120a0a08080712040a0208000a1c0a0e6f75746c696572"
        "5f76616c756573120a0a08080b12040a0208000aec020a06626c6f636b7312e102c23edd0212da020a0e0a05636f756e7422"
        "0510073a01030aa2010a0572756e5f30129801c23e94010a91010a8c01c23e88011285010a1d0a0a706172616d6574657273"
        "220f080910073a0904000401010001000a0a0f0a057363616c6512060a04080b12000a140a0a7a65726f5f706f696e741206"
        "0a04080b12000a100a066f666673657412060a04080b12000a160a08636f6465626f6f6b120a0a08080b12040a0208000a13"
        "0a05636f646573120a0a08080212040a02080210020aa2010a0572756e5f32129801c23e94010a91010a8c01c23e88011285"
        "010a1d0a0a706172616d6574657273220f080910073a0902000401010001000a0a0f0a057363616c6512060a04080b12000a"
        "140a0a7a65726f5f706f696e7412060a04080b12000a100a066f666673657412060a04080b12000a160a08636f6465626f6f"
        "6b120a0a08080b12040a0208000a130a05636f646573120a0a08080212040a02080110013a1f6f6e6e785f6c696768742e71"
        "75616e74697a6174696f6e2e76312f696e7434");
}

TEST_CASE("Bits per weight count scales and tables", "[codec]") {
  const auto bits = [](CodecProfile profile, std::uint64_t block_size) {
    return bits_per_weight(plan_of(profile, block_size, block_size).runs[0].layout);
  };
  CHECK(bits(CodecProfile::kInt8, 128) == 9.5);
  CHECK(bits(CodecProfile::kInt4, 32) == 10);
  CHECK(bits(CodecProfile::kNf4, 64) == 23);
  CHECK(bits(CodecProfile::kFp8E4M3, 128) == 136.5);
  CHECK(bits(CodecProfile::kTernary, 32) == 13.75);
  CHECK(bits(CodecProfile::kAqlm, 256) == 1026.75);
  CHECK(bits(CodecProfile::kTiledFloat, 16) == 44);
}

TEST_CASE("A hundred blocks of a layout cost a few bytes of descriptor", "[codec]") {
  const std::string one = write_struct_type(type_of(plan_of(CodecProfile::kInt4, 16, 16)));
  const std::string hundred = write_struct_type(type_of(plan_of(CodecProfile::kInt4, 1600, 16)));
  CHECK(hundred.size() < one.size() + 32);
}

}  // namespace halftone
