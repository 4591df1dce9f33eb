// ModelLoader: from slices of files to a Model. See halftone/model.h.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "halftone/model.h"
#include "model/external_location.h"
#include "model/model_data.h"
#include "model/skeleton_reader.h"

namespace halftone {
namespace {

constexpr std::string_view kModelPath = "model";

Error invalid_state(std::string message) {
  return {ErrorCode::kInvalidState, std::move(message), "", "This is a fault of the calling program."};
}

Error missing_file(const std::string& location, const std::string& what) {
  return {ErrorCode::kExternalDataMissing,
          "The model's weights are partly in \"" + printable(location) + "\", " + what + ".",
          printable(location), "Give the model together with its external data files."};
}

}  // namespace

struct ModelLoader::State {
  enum class Phase { kReading, kParsed, kDone };

  Phase phase = Phase::kReading;
  ByteBuffer buffer;  // being filled
  std::uint64_t filled = 0;
  std::uint64_t offered = 0;                   // size of the part that next() gave out last
  std::string path = std::string(kModelPath);  // where the buffer goes in the store
  bool filling = true;
  std::uint64_t file_bytes = 0;
  std::shared_ptr<ModelData> data;
  std::vector<ExternalFile> external;
  std::unordered_map<std::string, std::size_t> external_index;
  std::vector<bool> given;  // parallel to `external`: begun

  [[nodiscard]] bool full() const { return filled == buffer.span().size(); }
  // A full external buffer moves into the store.
  void settle() {
    if (!filling || !full() || phase == Phase::kReading) return;
    data->store->add(path, std::move(buffer));
    buffer = {};
    filling = false;
    filled = 0;
    offered = 0;
  }
};

ModelLoader::ModelLoader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ModelLoader::~ModelLoader() = default;
ModelLoader::ModelLoader(ModelLoader&&) noexcept = default;
ModelLoader& ModelLoader::operator=(ModelLoader&&) noexcept = default;

Result<ModelLoader> ModelLoader::create(std::uint64_t file_bytes) {
  if (file_bytes == 0) return Error{ErrorCode::kNotOnnx, "The file is empty.", "", "Choose a .onnx file."};
  Result<ByteBuffer> buffer = ByteBuffer::allocate(file_bytes);
  if (!buffer) return buffer.error();
  auto state = std::make_unique<State>();
  state->buffer = std::move(buffer).value();
  state->file_bytes = file_bytes;
  return ModelLoader(std::move(state));
}

std::span<std::uint8_t> ModelLoader::next(std::uint64_t wanted) {
  const std::span<std::uint8_t> rest =
      state_->buffer.span().subspan(static_cast<std::size_t>(state_->filled));
  const std::span<std::uint8_t> part =
      rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, rest.size())));
  state_->offered = part.size();
  return part;
}

Result<void> ModelLoader::commit(std::uint64_t bytes) {
  if (bytes > state_->offered) return invalid_state("More bytes were committed than next() gave room for.");
  state_->filled += bytes;
  state_->offered = 0;
  state_->settle();
  return {};
}

Result<std::vector<ExternalFile>> ModelLoader::parse() {
  State& state = *state_;
  if (state.phase != State::Phase::kReading) return invalid_state("The model was parsed before.");
  if (!state.full()) return invalid_state("The model was parsed before all of its bytes were read.");
  const ByteBuffer& file = state.buffer;
  Result<Skeleton> skeleton = read_skeleton(file.span(), kModelPath);
  if (!skeleton) return skeleton.error();
  state.data = std::make_shared<ModelData>();
  state.data->skeleton = std::move(skeleton.value().model);
  state.data->store = std::make_shared<WeightStore>();
  state.external = std::move(skeleton.value().external_files);
  for (std::size_t i = 0; i < state.external.size(); ++i)
    state.external_index.emplace(state.external[i].location, i);
  state.given.assign(state.external.size(), false);
  state.phase = State::Phase::kParsed;
  state.settle();
  return state.external;
}

Result<void> ModelLoader::begin_external(std::string_view location, std::uint64_t file_bytes) {
  State& state = *state_;
  if (state.phase != State::Phase::kParsed)
    return invalid_state("External data was given before the model was parsed.");
  if (state.filling)
    return invalid_state("An external file was begun before the one before it was complete.");
  const Result<std::string> normal = normal_location(location);
  if (!normal) return normal.error();
  const auto listed = state.external_index.find(normal.value());
  if (listed == state.external_index.end()) {
    return Error{ErrorCode::kExternalDataMissing,
                 "The model has no external data in \"" + printable(location) + "\".", printable(location),
                 ""};
  }
  if (state.given[listed->second]) return invalid_state("An external file was given twice.");
  const ExternalFile& file = state.external[listed->second];
  if (file_bytes < file.min_bytes) {
    return missing_file(file.location, "which has " + std::to_string(file_bytes) +
                                           " bytes but should have at least " +
                                           std::to_string(file.min_bytes));
  }
  Result<ByteBuffer> buffer = ByteBuffer::allocate(file_bytes);
  if (!buffer) return buffer.error();
  state.buffer = std::move(buffer).value();
  state.path = external_store_path(file.location);
  state.filled = 0;
  state.filling = true;
  state.given[listed->second] = true;
  state.file_bytes += file_bytes;
  state.settle();  // an empty file is complete at once
  return {};
}

Result<std::shared_ptr<const Model>> ModelLoader::finish() {
  State& state = *state_;
  if (state.phase != State::Phase::kParsed)
    return invalid_state("The model was finished before it was parsed, or twice.");
  if (state.filling) return missing_file(state.path, "which was not read to its end");
  for (std::size_t i = 0; i < state.external.size(); ++i) {
    if (!state.given[i]) return missing_file(state.external[i].location, "which was not given");
  }
  state.phase = State::Phase::kDone;
  state.data->info.file_bytes = state.file_bytes;
  return finish_model(std::move(state.data));
}

Result<std::shared_ptr<const Model>> open_model(std::span<const std::uint8_t> bytes) {
  Result<ModelLoader> loader = ModelLoader::create(bytes.size());
  if (!loader) return loader.error();
  const std::span<std::uint8_t> place = loader.value().next(bytes.size());
  std::copy(bytes.begin(), bytes.end(), place.begin());
  if (const Result<void> filled = loader.value().commit(bytes.size()); !filled) return filled.error();
  const Result<std::vector<ExternalFile>> external = loader.value().parse();
  if (!external) return external.error();
  return loader.value().finish();
}

}  // namespace halftone
