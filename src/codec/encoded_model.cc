#include "halftone/encoded_model.h"

#include <utility>

#include "codec/named_error.h"
#include "codec/shared_sets.h"
#include "halftone/encoded_value_check.h"
#include "halftone/ort_matmul_nbits.h"
#include "model/model_extensions.h"

namespace halftone {
namespace {

constexpr std::int32_t kExternal = 1;

Error wrong(const std::string& what) {
  return {ErrorCode::kInvalidGraph, what, "", "Check what wrote the model."};
}

bool has_codec_name(const StructType& type) {
  return type.name && type.name->starts_with(kCodecSchemaPrefix);
}

// The descriptor of a value, references followed.
Result<StructType> descriptor(const EncodedValue& value, const StructCatalogue& catalogue) {
  const auto* type = std::get_if<StructType>(&value.layout);
  return type == nullptr ? StructType{} : resolve_struct_type(*type, catalogue);
}

Result<CodecProfile> profile_of(const EncodedValue& value, const StructType& type,
                                const StructCatalogue& catalogue) {
  if (is_matmul_nbits(type)) {
    const Result<MatMulNBitsLayout> layout = check_matmul_nbits(value, catalogue);
    return layout ? Result<CodecProfile>(layout.value().profile) : layout.error();
  }
  const Result<CodecSchema> schema = encoded_value_schema(value, catalogue);
  return schema ? Result<CodecProfile>(schema.value().profile) : schema.error();
}

// Fills the profile, or returns what is wrong with a value that is no reference to shared parameters.
Result<void> judge(const EncodedValue& value, const StructCatalogue& catalogue,
                   EncodedInitializer& described) {
  if (Result<void> sound = check_encoded_value(value, catalogue); !sound) return sound;
  const Result<StructType> type = descriptor(value, catalogue);
  if (!type) return type.error();
  if (!has_codec_name(type.value()) || described.external) return {};
  const Result<CodecProfile> profile = profile_of(value, type.value(), catalogue);
  if (!profile) return profile.error();
  described.profile = profile.value();
  return {};
}

}  // namespace

EncodedModel::EncodedModel(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  read_catalogue();
  for (const EncodedMessage& message : encoded_messages(*model_)) {
    initializers_.push_back(describe(message.name, message.bytes));
    messages_.push_back(message.bytes);
  }
  for (std::size_t i = 0; i < initializers_.size(); ++i) index_.emplace(initializers_[i].name, i);
}

void EncodedModel::read_catalogue() {
  std::vector<StructType> types;
  for (const std::span<const std::uint8_t> message : struct_type_messages(*model_)) {
    Result<StructType> type = read_struct_type(message);
    if (!type) {
      catalogue_fault_ = type.error();
      return;
    }
    types.push_back(std::move(type).value());
  }
  Result<StructCatalogue> catalogue = StructCatalogue::make(std::move(types));
  if (catalogue) {
    catalogue_ = std::move(catalogue).value();
  } else {
    catalogue_fault_ = catalogue.error();
  }
}

EncodedInitializer EncodedModel::describe(std::string_view name, std::span<const std::uint8_t> message) {
  EncodedInitializer made;
  made.name = std::string(name);
  made.message_bytes = message.size();
  const Result<EncodedValue> read = read_encoded_value(message);
  if (!read) {
    made.fault = codec::named("encoded initializer", name, read.error());
    return made;
  }
  const EncodedValue& value = read.value();
  if (value.logical_type) made.logical_type = *value.logical_type;
  made.payload_bytes = value.payload ? value.payload->size() : 0;
  made.external = value.data_location == kExternal;
  made.parameter_ref = value.parameter_ref.value_or("");
  Result<void> sound = value.parameter_ref ? judge_shared(value, made) : judge(value, catalogue_, made);
  if (name.empty()) sound = wrong("It has no name.");
  if (!sound) made.fault = codec::named("encoded initializer", name, sound.error());
  return made;
}

const Result<SharedParameterSet>& EncodedModel::shared_set(const std::string& name) {
  const auto place = sets_.find(name);
  if (place != sets_.end()) return place->second;
  return sets_.emplace(name, codec::find_shared_set(*model_, name, catalogue_)).first->second;
}

Result<void> EncodedModel::judge_shared(const EncodedValue& value, EncodedInitializer& described) {
  if (Result<void> sound = check_encoded_value(value, catalogue_); !sound) return sound;
  const Result<SharedParameterSet>& set = shared_set(described.parameter_ref);
  if (!set) return set.error();
  const bool fits = described.external || (value.logical_type == set.value().logical_type() &&
                                           described.payload_bytes == set.value().compact_bytes());
  if (!fits) return wrong("It is incompatible with its shared parameters, in type, shape or size.");
  const Result<CodecProfile> profile = codec::shared_profile(set.value(), catalogue_);
  if (!profile) return profile.error();
  described.profile = profile.value();
  return {};
}

const EncodedInitializer* EncodedModel::find(std::string_view name) const {
  const auto place = index_.find(name);
  return place == index_.end() ? nullptr : &initializers_[place->second];
}

Result<EncodedValue> EncodedModel::value(const EncodedInitializer& initializer) const {
  if (initializer.fault) return *initializer.fault;
  Result<EncodedValue> value = read_encoded_value(messages_[index_.at(initializer.name)]);
  if (!value || !value.value().parameter_ref) return value;
  Result<EncodedValue> full = sets_.at(initializer.parameter_ref).value().materialize(value.value());
  return full ? std::move(full) : codec::named("encoded initializer", initializer.name, full.error());
}

Result<std::vector<std::uint8_t>> EncodedModel::decode(const EncodedInitializer& initializer,
                                                       DataType type) const {
  const Result<EncodedValue> full = value(initializer);
  if (!full) return full.error();
  const Result<StructType> layout = descriptor(full.value(), catalogue_);
  if (!layout) return layout.error();
  Result<std::vector<std::uint8_t>> values = is_matmul_nbits(layout.value())
                                                 ? decode_matmul_nbits(full.value(), type, catalogue_)
                                                 : decode_tensor(full.value(), type, catalogue_);
  return values ? std::move(values) : codec::named("encoded initializer", initializer.name, values.error());
}

}  // namespace halftone
