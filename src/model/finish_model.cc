// From a skeleton and a store to a Model: see model_data.h.
#include <algorithm>
#include <utility>

#include "model/constant_index.h"
#include "model/graph_builder.h"
#include "model/model_data.h"
#include "model/model_info.h"
#include "model/onnx_door.h"
#include "model/type_inference.h"
#include "model/value_types.h"

namespace halftone {
namespace {

void add_warnings(ModelData& data, std::vector<Warning> warnings) {
  for (Warning& warning : warnings) {
    const bool said = std::any_of(data.warnings.begin(), data.warnings.end(), [&](const Warning& known) {
      return known.code == warning.code && known.message == warning.message;
    });
    if (!said) data.warnings.push_back(std::move(warning));
  }
}

// What the base knew about a tensor that the edit left alone, or only gave another name.
void carry_types(const Graph& base, const Derivation& derivation, Graph::Parts& parts) {
  for (GraphTensor& tensor : parts.tensors) {
    const bool inferred =
        tensor.producer != kNone && derivation.inferred_nodes[static_cast<std::size_t>(tensor.producer)];
    const auto renamed = derivation.renamed.find(tensor.name);
    if (inferred || tensor.initializer) continue;
    const TensorId id = renamed != derivation.renamed.end() ? renamed->second : base.find_tensor(tensor.name);
    if (id == kNone) continue;
    tensor.type = base.tensor(id).type;
    tensor.shape = base.tensor(id).shape;
    if (const auto changed = derivation.retyped.find(tensor.name); changed != derivation.retyped.end())
      tensor.type = changed->second;
  }
}

std::shared_ptr<const Model> seal(std::shared_ptr<ModelData> data, Graph::Parts parts) {
  data->graph.emplace(std::move(parts));
  return std::make_shared<const Model>(std::move(data));
}

}  // namespace

Result<std::shared_ptr<const Model>> finish_model(std::shared_ptr<ModelData> data) {
  Result<BuiltGraph> built = build_graph(data->skeleton);
  if (!built.ok()) return std::move(built).error();
  Graph::Parts& parts = built.value().parts;
  add_warnings(*data, std::move(built.value().warnings));
  add_warnings(*data, infer_types(data->skeleton, parts, {}));
  add_warnings(*data, check_with_library(data->skeleton));
  data->constants = index_constants(data->skeleton.graph(), *data->store, parts);
  data->info = model_info(data->skeleton);
  for (const StoreBuffer& buffer : data->store->buffers()) data->info.file_bytes += buffer.bytes.size();
  return seal(std::move(data), std::move(parts));
}

Result<std::shared_ptr<const Model>> finish_derived(std::shared_ptr<ModelData> data, const ModelData& base,
                                                    const Derivation& derivation) {
  Result<BuiltGraph> built = build_graph(data->skeleton);
  if (!built.ok()) return std::move(built).error();
  if (!built.value().in_file_order) {
    return Error{ErrorCode::kInvalidGraph, "The edit puts a node before a node that feeds it.", "", ""};
  }
  Graph::Parts& parts = built.value().parts;
  carry_types(*base.graph, derivation, parts);
  add_warnings(*data, infer_types(data->skeleton, parts, derivation.inferred_nodes));
  data->constants = index_constants(data->skeleton.graph(), *data->store, parts);
  data->info = model_info(data->skeleton);
  return seal(std::move(data), std::move(parts));
}

}  // namespace halftone
