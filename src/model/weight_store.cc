#include "model/weight_store.h"

#include <limits>
#include <new>
#include <utility>

namespace halftone {
namespace {

Error out_of_memory(std::uint64_t bytes) {
  return {ErrorCode::kOutOfMemory,
          "There is not enough memory for a file of " + std::to_string(bytes) + " bytes.", "",
          "Close other programs or tabs, or use the native program for a model of this size."};
}

}  // namespace

Result<ByteBuffer> ByteBuffer::allocate(std::uint64_t bytes) {
  ByteBuffer buffer;
  if (bytes == 0) return buffer;
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    return out_of_memory(bytes);
  buffer.size_ = static_cast<std::size_t>(bytes);
  buffer.data_.reset(new (std::nothrow) std::uint8_t[buffer.size_]);  // not initialised: see the header
  if (buffer.data_ == nullptr) return out_of_memory(bytes);
  return buffer;
}

std::span<const std::uint8_t> WeightStore::insert(std::shared_ptr<const Entry> entry) {
  const Entry* added = entry.get();
  entries_.push_back(std::move(entry));
  by_path_.emplace(added->path, added);
  return added->bytes();
}

std::span<const std::uint8_t> WeightStore::add(std::string path, ByteBuffer buffer) {
  const std::lock_guard lock(mutex_);
  auto entry = std::make_shared<Entry>();
  entry->path = std::move(path);
  entry->buffer = std::move(buffer);
  return insert(std::move(entry));
}

std::string WeightStore::add_new(std::vector<std::uint8_t> bytes) {
  const std::lock_guard lock(mutex_);
  auto entry = std::make_shared<Entry>();
  entry->path = "new/" + std::to_string((*made_count_)++);
  entry->made = std::move(bytes);
  std::string path = entry->path;
  insert(std::move(entry));
  return path;
}

std::span<const std::uint8_t> WeightStore::find(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto place = by_path_.find(path);
  return place == by_path_.end() ? std::span<const std::uint8_t>{} : place->second->bytes();
}

std::shared_ptr<WeightStore> WeightStore::fork() const {
  const std::lock_guard lock(mutex_);
  auto forked = std::make_shared<WeightStore>();
  forked->entries_ = entries_;
  forked->by_path_ = by_path_;
  forked->made_count_ = made_count_;
  return forked;
}

std::vector<StoreBuffer> WeightStore::buffers() const {
  const std::lock_guard lock(mutex_);
  std::vector<StoreBuffer> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) all.push_back({entry->path, entry->bytes()});
  return all;
}

}  // namespace halftone
