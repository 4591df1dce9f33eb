#include "tensor_job.h"

#include <algorithm>
#include <utility>

#include "conversions.h"

namespace halftone::wasm {
namespace {

Error not_of_this_kind() {
  return {ErrorCode::kInvalidState, "This job has no such step.", "",
          "This is a fault of Halftone; please report it."};
}

}  // namespace

val TensorJob::next(double) {
  return val(emscripten::typed_memory_view(0, static_cast<std::uint8_t*>(nullptr)));
}
val TensorJob::commit(double) { return failure(not_of_this_kind()); }
val TensorJob::take(int) { return failure(not_of_this_kind()); }
val TensorJob::result() { return failure(not_of_this_kind()); }

val FedJob::next(double wanted) {
  try {
    if (filled_ == 0) piece_.resize(static_cast<std::size_t>(next_piece()));
    const std::size_t room = piece_.size() - filled_;
    const std::size_t count = wanted < static_cast<double>(room) ? static_cast<std::size_t>(wanted) : room;
    return val(emscripten::typed_memory_view(count, piece_.data() + filled_));
  } catch (const std::bad_alloc&) {
    return TensorJob::next(wanted);
  }
}

val FedJob::commit(double bytes) {
  return guarded([&] {
    const Result<std::uint64_t> count = size_from_js(bytes);
    if (!count.ok()) return failure(count.error());
    if (count.value() > piece_.size() - filled_)
      return failure(Error{ErrorCode::kInternal, "More was committed than there was room for.", "", ""});
    filled_ += static_cast<std::size_t>(count.value());
    if (filled_ < piece_.size() || filled_ == 0) return success();
    filled_ = 0;
    const Result<void> used = use(piece_);
    return used.ok() ? success() : failure(used.error());
  });
}

val FedJob::take(int part) {
  return guarded([&] {
    const auto index = static_cast<std::size_t>(part);
    if (part < 0 || index >= parts_.size()) return failure(not_of_this_kind());
    val bytes = bytes_to_js(parts_[index]);
    parts_[index].clear();
    return success(bytes);
  });
}

// Kinds that know nothing more.
val FedJob::result() { return success(); }

}  // namespace halftone::wasm
