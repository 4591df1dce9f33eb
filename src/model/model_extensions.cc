#include "model/model_extensions.h"

#include "model/extension_fields.h"
#include "model/model_data.h"

namespace halftone {

std::vector<EncodedMessage> encoded_messages(const Model& model) {
  const ModelData& data = *model.data();
  std::vector<EncodedMessage> messages;
  for (const FieldReference& reference : encoded_initializers(data.skeleton.graph())) {
    if (const auto bytes = referenced_bytes(*data.store, reference))
      messages.push_back({reference.name, *bytes});
  }
  return messages;
}

std::vector<std::span<const std::uint8_t>> struct_type_messages(const Model& model) {
  const ModelData& data = *model.data();
  std::vector<std::span<const std::uint8_t>> messages;
  for (const FieldReference& reference : field_references(data.skeleton.unknown_fields(), kStructTypeField)) {
    if (const auto bytes = referenced_bytes(*data.store, reference)) messages.push_back(*bytes);
  }
  return messages;
}

std::vector<TensorNote> tensor_notes(const Model& model) {
  std::vector<TensorNote> notes;
  for (const auto& annotation : model.data()->skeleton.graph().quantization_annotation()) {
    TensorNote& note = notes.emplace_back();
    note.tensor = annotation.tensor_name();
    for (const auto& entry : annotation.quant_parameter_tensor_names())
      note.entries.emplace_back(entry.key(), entry.value());
  }
  return notes;
}

}  // namespace halftone
