// The bytes of a model: buffers as they were read, plus tensors made here. Append-only; spans stay valid as
// long as the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// Uninitialised memory of a fixed size: a fresh std::vector would write every byte once before the file does.
class ByteBuffer {
 public:
  // Errors: kOutOfMemory. Zero bytes give an empty buffer.
  static Result<ByteBuffer> allocate(std::uint64_t bytes);
  [[nodiscard]] std::span<std::uint8_t> span() { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::uint8_t> span() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
};

// Where a stored tensor's data lies and in which TensorProto field it came.
enum class TensorField : std::uint8_t {
  kRawData,
  kFloatData,   // packed little-endian float32 (also complex64)
  kDoubleData,  // packed little-endian float64 (also complex128)
  kInt32Data,   // packed varints: decoded on demand
  kInt64Data,   // packed varints
  kUint64Data,  // packed varints
  kExternal,    // plain bytes of an external data file
};

class WeightStore {
 public:
  // Adds a buffer under a path ("model", a location). Precondition: the path is new. The span of the stored
  // buffer is returned.
  std::span<const std::uint8_t> add(std::string path, ByteBuffer buffer);
  // Adds a tensor made here under "new/<k>" and returns that path.
  std::string add_new(std::vector<std::uint8_t> bytes);
  // Empty span if there is no such path. O(log n).
  [[nodiscard]] std::span<const std::uint8_t> find(std::string_view path) const;
  [[nodiscard]] std::vector<StoreBuffer> buffers() const;
  // A store that begins with the same buffers, without a copy of them; what is added to it goes with it.
  // Paths of new tensors differ between all forks.
  [[nodiscard]] std::shared_ptr<WeightStore> fork() const;

 private:
  struct Entry {
    std::string path;
    ByteBuffer buffer;               // of a file, or
    std::vector<std::uint8_t> made;  // of a tensor made here
    [[nodiscard]] std::span<const std::uint8_t> bytes() const {
      return made.empty() ? buffer.span() : std::span<const std::uint8_t>(made);
    }
  };
  std::span<const std::uint8_t> insert(std::shared_ptr<const Entry> entry);  // with the mutex held

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Entry>> entries_;  // in order of addition; shared by forks
  std::map<std::string_view, const Entry*> by_path_;   // keys are views of the entries' own paths
  std::shared_ptr<std::atomic<std::size_t>> made_count_ =
      std::make_shared<std::atomic<std::size_t>>(0);  // of all forks together
};

}  // namespace halftone
