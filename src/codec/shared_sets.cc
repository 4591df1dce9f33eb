#include "codec/shared_sets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_extensions.h"

namespace halftone::codec {
namespace {

Error wrong(const std::string& what) {
  return {ErrorCode::kInvalidGraph, what, "", "Check what wrote the model."};
}

Result<ParameterRole> read_role(const Model& model, std::string_view role, std::string_view tensor) {
  const TensorId id = model.graph().find_tensor(tensor);
  if (id == kNone || !model.graph().tensor(id).initializer) {
    return wrong("A shared parameter set names the initializer \"" + printable(tensor) +
                 "\", which the model doesn't have.");
  }
  Result<ConstantTensor> constant = model.constant(id);
  if (!constant) return constant.error();
  const ConstantTensor& found = constant.value();
  return ParameterRole{std::string(role), {found.type, found.dims, found.bytes}};
}

}  // namespace

Result<SharedParameterSet> find_shared_set(const Model& model, const std::string& name,
                                           const StructCatalogue& catalogue) {
  const std::string wanted = std::string(kSharedParametersPrefix) + name;
  for (const TensorNote& note : tensor_notes(model)) {
    if (note.tensor != wanted) continue;
    std::vector<ParameterRole> roles;
    for (const auto& [role, tensor] : note.entries) {
      Result<ParameterRole> read = read_role(model, role, tensor);
      if (!read) return read.error();
      roles.push_back(std::move(read).value());
    }
    return SharedParameterSet::make(name, roles, catalogue);
  }
  return wrong("Its parameter_ref \"" + printable(name) + "\" is no parameter set of the model.");
}

Result<CodecProfile> shared_profile(const SharedParameterSet& set, const StructCatalogue& catalogue) {
  const Result<StructType> type = resolve_struct_type(set.storage_type(), catalogue);
  if (!type) return type.error();
  const std::string name = type.value().name.value_or("");
  return parse_codec_profile(std::string_view(name).substr(std::min(kCodecSchemaPrefix.size(), name.size())));
}

}  // namespace halftone::codec
