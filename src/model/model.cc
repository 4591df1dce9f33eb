#include "halftone/model.h"

#include <utility>

#include "model/constant_folding.h"
#include "model/model_data.h"
#include "model/opset_conversion.h"

namespace halftone {

Model::Model(std::shared_ptr<const ModelData> data) : data_(std::move(data)) {}
Model::~Model() = default;

const ModelInfo& Model::info() const { return data_->info; }

const Graph& Model::graph() const { return *data_->graph; }

std::span<const Warning> Model::warnings() const { return data_->warnings; }

std::vector<StoreBuffer> Model::buffers() const { return data_->store->buffers(); }

Result<ConstantTensor> Model::constant(TensorId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= data_->constants.size()) {
    return Error{ErrorCode::kInvalidState, "There is no tensor with this number.", "", ""};
  }
  const std::lock_guard lock(data_->folded_mutex);
  const auto known = data_->folded.find(id);
  if (known != data_->folded.end()) return known->second;
  Result<TensorBytes> value = fold_constant(data_->constants, id, *data_->store);
  if (!value.ok()) return std::move(value).error();
  ConstantTensor made{value.value().type, std::move(value.value().dims), value.value().view};
  if (!value.value().owned.empty()) {
    data_->folded_bytes.push_back(
        std::make_unique<std::vector<std::uint8_t>>(std::move(value.value().owned)));
  }
  return data_->folded.emplace(id, std::move(made)).first->second;
}

Result<std::shared_ptr<const Model>> Model::with_opset(std::int64_t version) const {
  if (version == graph().opset()) return std::make_shared<const Model>(data_);
  return convert_opset(*data_, version);
}

}  // namespace halftone
