// A model in memory: a skeleton (the ONNX messages without bulk bytes) over a weight store (the bytes as they
// were read).
//
// Opening: ModelLoader hands out parts of its own buffer to be filled, so a file is copied once, from
// wherever it is into the place where it stays. A Model is immutable and shares its store with every model
// derived from it (see editor.h), so a derived model costs kilobytes. Threading: a Model may be read from
// several threads once finished. Nothing here touches a file system: callers bring the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/graph.h"
#include "halftone/result.h"

namespace halftone {

// Tensors whose data is larger than this stay in the store; smaller ones live in the skeleton.
inline constexpr std::size_t kInlineLimitBytes = 1024;

// What a constant tensor holds, row-major, little endian, sub-byte types packed low bits first. `bytes` is a
// view into the model's store or skeleton and lives as long as the Model it came from.
struct ConstantTensor {
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::span<const std::uint8_t> bytes;

  // Precondition: type is kFloat. May be unaligned in memory: copy element by element or through memcpy where
  // it matters.
  [[nodiscard]] std::size_t float_count() const { return bytes.size() / sizeof(float); }
};

struct ModelInfo {
  std::string graph_name;
  std::int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  // as in the file; "" is ai.onnx
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t file_bytes = 0;       // of the .onnx and its external data together; 0 for a derived model
  std::uint64_t parameter_count = 0;  // elements of all initializers and
                                      // Constant tensors, subgraphs included
  std::uint64_t parameter_bytes = 0;
  std::int64_t function_count = 0;
  std::int64_t quantized_pairs = 0;  // DequantizeLinear nodes (any domain), subgraphs included
};

// An external data file that the model refers to, relative to the model's folder.
struct ExternalFile {
  std::string location;
  std::uint64_t min_bytes = 0;  // the end of the last tensor in it
};

// One buffer of the weight store, addressable from a written skeleton (see writer.h, kStoreReferences).
struct StoreBuffer {
  std::string path;  // "model" for the .onnx itself, an external file's
                     // location, or "new/<k>" for tensors made here
  std::span<const std::uint8_t> bytes;
};

class ModelData;  // skeleton and store; private to src/model

class Model {
 public:
  explicit Model(std::shared_ptr<const ModelData> data);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] const ModelInfo& info() const;
  // Types and shapes as far as inference knows them. Never fails; what went wrong is in warnings().
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] std::span<const Warning> warnings() const;

  // The value of a constant tensor of the main graph: initializer (dense), Constant node (value,
  // value_float(s), value_int(s)), or a chain of Identity, Cast (to float or integers), Transpose, Reshape,
  // Squeeze, Unsqueeze over one, folded at the first call and kept. Errors: kInvalidState if
  // graph().tensor(id).constant is false; kUnsupportedType for strings; kInvalidGraph if the data doesn't fit
  // the dims.
  [[nodiscard]] Result<ConstantTensor> constant(TensorId id) const;

  [[nodiscard]] std::vector<StoreBuffer> buffers() const;
  [[nodiscard]] const std::shared_ptr<const ModelData>& data() const { return data_; }

  // The same model at a higher version of the default operator set (7 to 22): nodes whose operator changes go
  // through the ONNX library's converter, one by one; all others, names, unknown fields and the store stay as
  // they are. Bodies are converted, too; the model's own functions are raised if nothing changes in them.
  // Errors: kUnsupportedOpset if it can't be (the converter's reason is in the message).
  [[nodiscard]] Result<std::shared_ptr<const Model>> with_opset(std::int64_t version) const;

 private:
  std::shared_ptr<const ModelData> data_;
};

// Reads a model from slices.
//
//   auto loader = ModelLoader::create(file_bytes);
//   while (true) { auto part = loader.next(16 << 20); if (part.empty()) break;
//   fill(part); loader.commit(part.size()); } auto external = loader.parse();
//   // the skeleton is built; which other files are needed? for (each of
//   external) { loader.begin_external(location, its size); …next/commit as
//   above… } auto model = loader.finish();
//
// Error precedence: kInvalidState (wrong order of calls) before all others.
class ModelLoader {
 public:
  // Reserves memory for a file of exactly `file_bytes`. Errors: kNotOnnx for 0 bytes, kOutOfMemory.
  static Result<ModelLoader> create(std::uint64_t file_bytes);
  ~ModelLoader();
  ModelLoader(ModelLoader&&) noexcept;
  ModelLoader& operator=(ModelLoader&&) noexcept;

  // The next unfilled part of the current buffer, at most `wanted` bytes; empty when the buffer is full.
  [[nodiscard]] std::span<std::uint8_t> next(std::uint64_t wanted);
  // Says that the first `bytes` bytes of the part from next() are filled. Errors: kInvalidState beyond that
  // part.
  Result<void> commit(std::uint64_t bytes);

  // Builds the skeleton. Errors: kInvalidState if the buffer isn't full; kNotOnnx, kTruncated, kInvalidGraph,
  // kTooLarge with the byte offset; kExternalDataMissing for a location that leaves the model's folder
  // (absolute, "..", drive, backslash).
  Result<std::vector<ExternalFile>> parse();
  // Reserves memory for one of the files that parse() listed. Errors: kExternalDataMissing if it isn't listed
  // or is too short.
  Result<void> begin_external(std::string_view location, std::uint64_t file_bytes);
  // Checks what can only be known now, indexes, infers. Errors:
  // kExternalDataMissing (first file not given), kInvalidGraph.
  Result<std::shared_ptr<const Model>> finish();

 private:
  struct State;
  explicit ModelLoader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A whole file in memory, for callers that have one anyway (tests, small models). Copies the bytes once.
Result<std::shared_ptr<const Model>> open_model(std::span<const std::uint8_t> bytes);

}  // namespace halftone
