// What is refused, and the word by which its message is known.
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <limits>

#include "codec/encoded_cases.h"

namespace halftone {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using P = CodecProfile;

template <typename T>
std::string message_of(const Result<T>& result) {
  REQUIRE(!result.ok());
  CHECK_FALSE(result.error().message.empty());
  CHECK(result.error().message.back() == '.');
  return result.error().message;
}

bool says(const std::string& message, const char* word) {
  UNSCOPED_INFO("message: " << message << " word: " << word);
  return message.find(word) != std::string::npos;
}

const OwnedTensor& four() {
  static const OwnedTensor x = floats({1, 2, 3, 4});
  return x;
}

// The message for a plan of four elements after an edit.
std::string refused(P profile, const std::function<void(CodecPlan&)>& edit, std::uint64_t block_size = 2) {
  CodecPlan plan = plan_of(profile, 4, block_size);
  edit(plan);
  return message_of(encode_tensor(four(), plan));
}

std::string refused_inputs(P profile, const std::function<void(QuantizeInputs&)>& edit) {
  QuantizeInputs inputs;
  edit(inputs);
  return message_of(quantize_tensor(four(), type_of(plan_of(profile, 4, 2)), inputs));
}

EncodedValue with_payload(EncodedValue value, Bytes payload) {
  value.payload = PayloadBytes(std::move(payload));
  return value;
}

// The message for a value whose payload was edited.
std::string refused_payload(const EncodedValue& value, const std::function<void(Bytes&)>& edit) {
  Bytes payload(value.payload->bytes().begin(), value.payload->bytes().end());
  edit(payload);
  return message_of(decode_tensor(with_payload(value, std::move(payload))));
}

void put_double(Bytes& payload, std::size_t at, double number) {
  std::memcpy(payload.data() + at, &number, sizeof(number));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("Sources that can't be encoded", "[codec]") {
  const CodecPlan plan = plan_of(P::kInt4, 2, 2);
  CHECK(says(message_of(encode_tensor(indices({1, 2}), plan)), "FLOAT"));
  for (const DataType type : {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16}) {
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
      CHECK(says(message_of(encode_tensor(floats({0, bad}, type), plan)), "finite"));
      CHECK(says(message_of(quantize_tensor(floats({0, bad}, type), type_of(plan))), "finite"));
    }
  }
  CodecTensor torn = floats({1, 2});
  torn.bytes = torn.bytes.first(7);
  CHECK(encode_tensor(torn, plan).error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("Numbers of blocks that can't be", "[codec]") {
  for (const double scale : {0.0, -1.0, kNan, kInfinity}) {
    CHECK(says(refused(P::kInt4, [&](CodecPlan& plan) { plan.runs[0].scales = {scale}; }), "positive"));
  }
  for (const double zero : {8.0, -9.0, .5, kNan}) {
    CHECK(says(refused(P::kInt4, [&](CodecPlan& plan) { plan.runs[0].zero_points = {zero}; }), "code range"));
  }
  CHECK(says(refused(P::kNf4, [](CodecPlan& plan) { plan.runs[0].zero_points = {1}; }), "zero"));
  CHECK(says(refused(P::kNf4, [](CodecPlan& plan) { plan.runs[0].offsets = {1}; }), "offset"));
  CHECK(says(refused(P::kTiledFloat, [](CodecPlan& plan) { plan.runs[0].offsets = {1}; }), "offset"));
  CHECK(says(refused(P::kInt4,
                     [](CodecPlan& plan) {
                       plan.runs[0].scales = {1, 2, 3};
                     }),
             "scalar or one per block"));
}

TEST_CASE("Layouts that can't be", "[codec]") {
  const auto layout = [](P profile, const std::function<void(BlockLayout&)>& edit) {
    return refused(profile, [&](CodecPlan& plan) { edit(plan.runs[0].layout); });
  };
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.bits = 0; }), "width"));
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.bits = 17; }), "width"));
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.method = static_cast<CodecMethod>(3); }), "method"));
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.cast_type = DataType::kInt8; }), "cast_type"));
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.count = 0; }), "nonempty"));
  CHECK(says(layout(P::kNf4, [](BlockLayout& l) { l.entries = 17; }), "codebook"));
  CHECK(says(layout(P::kNf4, [](BlockLayout& l) { l.entries = 15; }), "codebook"));
  CHECK(says(layout(P::kNf4, [](BlockLayout& l) { l.books = 0; }), "codebook"));
  CHECK(says(layout(P::kNf4, [](BlockLayout& l) { l.base3 = true; }), "base-3"));
  CHECK(says(layout(P::kInt4, [](BlockLayout& l) { l.base3 = true; }), "base-3"));
  CHECK(says(layout(P::kAqlm,
                    [](BlockLayout& l) {
                      l.vector_size = 0xFFFFFFFF;
                      l.books = 0xFFFFFFFF;
                    }),
             "larger"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.runs[0].codebooks = {1}; }), "codebook"));
  CHECK(says(refused(P::kBinary, [](CodecPlan& plan) { plan.runs[0].codebooks = {kNan, 1}; }), "codebook"));
  CHECK(says(refused(P::kAqlm, [](CodecPlan&) {}), "codebook"));
}

TEST_CASE("Plans that don't fit a tensor", "[codec]") {
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.runs[0].blocks = 0; }), "nonempty"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.runs[0].blocks = 3; }), "exceed"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.runs[0].blocks = UINT64_MAX; }), "exceed"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.runs[0].blocks = 1; }), "exactly"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.permutation = {0, 1, 2}; }), "duplicate"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.permutation = {0, 1, 2, 2}; }), "duplicate"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.permutation = {0, 1, 2, -1}; }), "invalid"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.outliers = {4}; }), "invalid"));
  CHECK(says(refused(P::kInt4, [](CodecPlan& plan) { plan.outliers = {1, 1}; }), "duplicate"));
  CHECK(says(refused(P::kInt4,
                     [](CodecPlan& plan) {
                       plan.matrix_shape = MatrixShape{2, 2};
                     }),
             "matrix_shape"));
  CHECK(says(refused(P::kQuarot, [](CodecPlan&) {}), "transforms"));
  CHECK(says(refused(P::kSmoothQuant, [](CodecPlan&) {}), "transforms"));
  const auto transform = [](std::uint32_t n, std::vector<double> forward, std::vector<double> inverse) {
    return refused(P::kQuarot, [&](CodecPlan& plan) {
      plan.transform_size = n;
      plan.forward = forward;
      plan.inverse = inverse;
    });
  };
  CHECK(says(transform(2, {1, 0, 0}, {1, 0, 0, 1}), "square"));
  CHECK(says(transform(3, std::vector<double>(9, 1), std::vector<double>(9, 1)), "square"));
  CHECK(says(transform(2, {1, 0, 0, 1}, {1, 0, 0, 1.00001}), "inverse"));
  CHECK(says(transform(2, {1, 0, 0, kNan}, {1, 0, 0, 1}), "finite"));
  CHECK(says(transform(2, {1e308, 1e308, 0, 1e-308}, {1e-308, -1e308, 0, 1e308}), "overflow"));
  CHECK(says(message_of(make_codec_plan(P::kInt4, 4, 0)), "block size"));
  CHECK(says(message_of(make_codec_plan(P::kInt4, 4, std::uint64_t{1} << 32U)), "block size"));
  CHECK(says(message_of(parse_codec_profile("NF4")), "Unknown quantization format"));
  CHECK(says(message_of(parse_codec_profile("")), "Unknown quantization format"));
}

TEST_CASE("Numbers that overflow", "[codec]") {
  const OwnedTensor large = floats({1e300, 1}, DataType::kDouble);
  CodecPlan table = plan_of(P::kNf4, 2, 2);
  table.runs[0].scales = {1e-300};
  CHECK(says(message_of(encode_tensor(large, table)), "overflow"));
  CodecPlan cast = plan_of(P::kTiledFloat, 2, 2);
  CHECK(says(message_of(encode_tensor(large, cast)), "overflow"));
  cast.runs[0].layout.cast_type = DataType::kFloat16;
  CHECK(says(message_of(encode_tensor(floats({65520, 1}), cast)), "overflow"));
  cast.runs[0].layout.cast_type = DataType::kFloat;
  CHECK(says(message_of(decode_tensor(encoded(floats({65536, 1}), cast), DataType::kFloat16)), "overflow"));
  CodecPlan books = plan_of(P::kAqlm, 2, 2);
  books.runs[0].layout.entries = 1;
  books.runs[0].layout.vector_size = 2;
  books.runs[0].codebooks = {-1.7e308, 0, 0, 0};
  CHECK(says(message_of(encode_tensor(floats({1e308, 0}, DataType::kDouble), books)), "overflow"));
}

TEST_CASE("Inputs that don't fit the struct type", "[codec]") {
  const OwnedTensor three = floats({1, 2, 3});
  const OwnedTensor square = shaped({1, 2}, {1, 2});
  const OwnedTensor bad = floats({1, kNan});
  const OwnedTensor whole = indices({0, 1});
  const OwnedTensor one = floats({1});
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.scales = three; }),
             "scalar or one per block"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.scales = square; }),
             "scalar or one per block"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.offsets = three; }),
             "scalar or one per block"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.scales = bad; }), "finite"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.zero_points = whole; }), "FLOAT"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.permutation = whole; }),
             "invalid permutation"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.forward = one; }), "must have shape"));
  CHECK(says(refused_inputs(P::kAqlm, [](QuantizeInputs&) {}), "explicit codebooks"));
  CHECK(says(refused_inputs(P::kSqueezeLlm, [](QuantizeInputs&) {}), "explicit codebooks"));
  CHECK(says(refused_inputs(P::kInt4, [&](QuantizeInputs& in) { in.codebooks = one; }), "codebook"));
  const OwnedTensor tables = floats(std::vector<double>(std::size_t{2} * 32 * 4, 1));
  CHECK(says(refused_inputs(P::kStq1_0, [&](QuantizeInputs& in) { in.codebooks = tables; }),
             "explicit scales"));

  CodecPlan plan = plan_of(P::kQuarot, 4, 2);
  plan.transform_size = 2;
  plan.forward = plan.inverse = {1, 0, 0, 1};
  plan.permutation = {0, 1, 2, 3};
  const StructType type = type_of(plan);
  QuantizeInputs inputs;
  CHECK(says(message_of(quantize_tensor(four(), type, inputs)), "explicit permutation"));
  const OwnedTensor permutation = indices(plan.permutation);
  inputs.permutation = permutation;
  CHECK(says(message_of(quantize_tensor(four(), type, inputs)), "must have shape [2, 2]"));
  const OwnedTensor flat = floats({1, 0, 0, 1});
  inputs.forward = flat;
  CHECK(says(message_of(quantize_tensor(four(), type, inputs)), "must have shape [2, 2]"));
  const OwnedTensor identity = shaped({1, 0, 0, 1}, {2, 2});
  inputs.forward = inputs.inverse = identity;
  CHECK(quantize_tensor(four(), type, inputs).ok());
}

TEST_CASE("Payloads that are damaged", "[codec]") {
  const EncodedValue ints = encoded(floats({1, 2, 3}), plan_of(P::kInt4, 3));
  CHECK(says(refused_payload(ints, [](Bytes& p) { p[0] = 1; }), "reserved"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { p.pop_back(); }), "truncated"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { p.push_back(0); }), "trailing"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { p.back() |= 0x10U; }), "padding"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { put_double(p, 1, 0); }), "positive"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { put_double(p, 1, kNan); }), "finite"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { put_double(p, 9, .5); }), "code range"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { put_double(p, 17, kInfinity); }), "finite"));
  CHECK(says(refused_payload(ints, [](Bytes& p) { put_double(p, 1, 1e308); }), "nonfinite"));

  const EncodedValue trits = encoded(floats({1, 0, 1}), plan_of(P::kTernary, 3));
  CHECK(says(refused_payload(trits, [](Bytes& p) { p.back() = 243; }), "base-3 byte"));
  CHECK(says(refused_payload(trits, [](Bytes& p) { p.back() = 27; }), "padding"));
  CHECK(says(refused_payload(trits, [](Bytes& p) { put_double(p, 25, kNan); }), "finite"));
  CHECK(says(refused_payload(trits, [](Bytes& p) { put_double(p, 17, 1); }), "offset"));
  const EncodedValue two_bits = encoded(floats({1, 0, 1}), plan_of(P::kTq2_0, 3));
  CHECK(says(refused_payload(two_bits, [](Bytes& p) { p.back() |= 3U; }), "out of range"));
  const EncodedValue log = encoded(floats({1, 0}), plan_of(P::kLog, 2));
  CHECK(says(refused_payload(log, [](Bytes& p) { p.back() |= 15U; }), "out of range"));
}

TEST_CASE("Values that need something else first", "[codec]") {
  EncodedValue value = encoded(floats({1, 2}), plan_of(P::kInt4, 2));
  EncodedValue external = value;
  external.payload.reset();
  external.data_location = 1;
  CHECK(says(message_of(decode_tensor(external)), "Load external"));
  EncodedValue shared = value;
  shared.parameter_ref = "common";
  CHECK(says(message_of(decode_tensor(shared)), "materialize"));
  EncodedValue affine = value;
  affine.layout = AffineLayout{};
  CHECK(says(message_of(decode_tensor(affine)), "EncodedValueProto"));
  CHECK(says(message_of(decode_tensor(value, DataType::kInt8)), "dtype must be"));
  EncodedValue reshaped = value;
  reshaped.logical_type->dims = {3};
  CHECK(says(message_of(decode_tensor(reshaped)), "exactly"));
  EncodedValue retyped = value;
  retyped.logical_type->type = DataType::kInt8;
  CHECK(says(message_of(decode_tensor(retyped)), "FLOAT"));
}

}  // namespace halftone
