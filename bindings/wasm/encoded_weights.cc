#include "encoded_weights.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "codec_options.h"
#include "conversions.h"
#include "halftone/encode_weights.h"
#include "halftone/standard_weights.h"
#include "model_jobs.h"

namespace halftone::wasm {
namespace {

struct Derived {
  std::shared_ptr<const Model> model;
  val encoded = val::array();
  val standard = val::array();
  val decoded = val::array();
  val left = val::array();
};

double number(std::uint64_t count) { return static_cast<double>(count); }

void add_left(Derived& derived, const std::vector<LeftTensor>& tensors) {
  for (const auto& [tensor, reason] : tensors) {
    val entry = val::object();
    entry.set("tensor", tensor);
    entry.set("reason", reason);
    derived.left.call<void>("push", entry);
  }
}

val named(const std::string& tensor, const std::string& encoded, DataType type) {
  val entry = val::object();
  entry.set("tensor", tensor);
  entry.set("encoded", encoded);
  entry.set("type", data_type_name(type));
  return entry;
}

const char* form_name(StandardForm form) {
  switch (form) {
    case StandardForm::kMatMulNBits:
      return "MatMulNBits";
    case StandardForm::kMatMulBnb4:
      return "MatMulBnb4";
    case StandardForm::kDequantizeLinear:
      break;
  }
  return "DequantizeLinear";
}

Error no_profile(const StorageFormat& format) {
  return {ErrorCode::kInvalidPolicy,
          "Weights of a model can't be encoded as " + format.name + ", which is no profile of onnx-light.",
          "",
          "Use a profile such as int4 or nf4; standard ONNX and onnxruntime's operators are made of those."};
}

Result<EncodeWeightsOptions> encode_options(const val& options) {
  const Result<FormatChoice> choice =
      format_choice(options["format"].as<std::string>(), options["block"].as<double>());
  if (!choice.ok()) return choice.error();
  const StorageFormat& format = *choice.value().format;
  const auto* profile = std::get_if<CodecProfile>(&format.format);
  if (profile == nullptr) return no_profile(format);
  const Result<std::uint64_t> least = size_from_js(options["least"].as<double>());
  if (!least.ok()) return least.error();
  EncodeWeightsOptions chosen;
  chosen.profile = *profile;
  // Per channel, blocks are what a channel holds, unless something else is said.
  const bool unsaid = options["block"].as<double>() == 0;
  chosen.block_size = unsaid && *profile == CodecProfile::kInt8PerChannel ? 0 : choice.value().block_size;
  chosen.codebook = numbers_from_js(options["codebook"]).value_or(std::vector<double>());
  chosen.min_elements = least.value();
  chosen.transpose_matmul_weights = options["transpose"].isTrue();
  const val tensors = options["tensors"];
  if (tensors.isNull() || tensors.isUndefined()) return chosen;
  const std::vector<std::string> names = strings_from_js(tensors);
  const auto set = std::make_shared<std::unordered_set<std::string>>(names.begin(), names.end());
  chosen.chosen = [set](std::string_view name) { return set->contains(std::string(name)); };
  return chosen;
}

Result<void> encode(const val& options, Derived& derived) {
  const Result<EncodeWeightsOptions> chosen = encode_options(options);
  if (!chosen.ok()) return chosen.error();
  Result<EncodedWeights> made = encode_weights(derived.model, chosen.value());
  if (!made.ok()) return made.error();
  derived.model = made.value().model;
  for (const EncodedWeight& weight : made.value().encoded) {
    val entry = named(weight.tensor, weight.encoded, weight.type);
    val dims = val::array();
    for (const std::int64_t dim : weight.dims) dims.call<void>("push", static_cast<double>(dim));
    entry.set("dims", dims);
    entry.set("floatBytes", number(weight.float_bytes));
    entry.set("payloadBytes", number(weight.payload_bytes));
    entry.set("messageBytes", number(weight.message_bytes));
    derived.encoded.call<void>("push", entry);
  }
  add_left(derived, made.value().left);
  return {};
}

Result<void> decode(Derived& derived) {
  Result<DecodedWeights> made = decode_weights(derived.model);
  if (!made.ok()) return made.error();
  derived.model = made.value().model;
  for (const DecodedWeight& weight : made.value().decoded) {
    val entry = named(weight.tensor, weight.encoded, weight.type);
    entry.set("floatBytes", number(weight.float_bytes));
    derived.decoded.call<void>("push", entry);
  }
  add_left(derived, made.value().left);
  return {};
}

Result<void> standard(const val& options, Derived& derived) {
  const StandardOptions chosen{options["roundScales"].isTrue(), options["contribOperators"].isTrue()};
  Result<StandardWeights> made = to_standard(derived.model, chosen);
  if (!made.ok()) return made.error();
  derived.model = made.value().model;
  for (const StandardWeight& weight : made.value().converted) {
    val entry = named(weight.tensor, weight.encoded, weight.type);
    entry.set("form", std::string(form_name(weight.form)));
    entry.set("axis", weight.axis ? val(static_cast<double>(*weight.axis)) : val::null());
    entry.set("block", static_cast<double>(weight.block_size));
    entry.set("bytes", number(weight.bytes));
    entry.set("rounding", weight.rounding);
    derived.standard.call<void>("push", entry);
  }
  add_left(derived, made.value().left);
  return {};
}

Result<void> derive(const val& options, Derived& derived) {
  const std::string kind = options["kind"].as<std::string>();
  if (kind == "decode") return decode(derived);
  if (kind == "standard") return standard(options, derived);
  Result<void> made = encode(options, derived);
  return made.ok() && options["standard"].isTrue() ? standard(options, derived) : made;
}

}  // namespace

val create_encoded_export(const std::shared_ptr<ModelHandle>& model, const val& options,
                          const std::string& external_location) {
  return guarded([&] {
    if (!model || !model->model()) {
      return failure(
          Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."});
    }
    Derived derived;
    derived.model = model->model();
    if (const Result<void> made = derive(options, derived); !made.ok()) return failure(made.error());
    Result<WrittenModel> written = write_for_export(derived.model, external_location);
    if (!written.ok()) return failure(written.error());
    val answer = val::object();
    answer.set("modelBytes", number(written.value().model.size()));
    answer.set("externalBytes", number(written.value().external_data.size()));
    answer.set("encoded", derived.encoded);
    answer.set("standard", derived.standard);
    answer.set("decoded", derived.decoded);
    answer.set("left", derived.left);
    answer.set("warnings", warnings_to_js(derived.model->warnings()));
    answer.set("job", export_job(std::move(written).value()));
    return success(answer);
  });
}

}  // namespace halftone::wasm
