// Sizes that come from files, and may be anything: sums and products that notice when they pass a limit.
#pragma once

#include <cstdint>

namespace halftone::codec {

// Whether so many bytes can be one object on this machine (WebAssembly: 2 GiB).
inline bool fits_memory(std::uint64_t bytes) { return bytes <= static_cast<std::uint64_t>(PTRDIFF_MAX); }

class CheckedSize {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 60U;

  explicit CheckedSize(std::uint64_t value) : value_(value), fits_(value <= kLimit) {}

  [[nodiscard]] bool fits() const { return fits_; }
  // Precondition: fits().
  [[nodiscard]] std::uint64_t value() const { return value_; }

  friend CheckedSize operator*(CheckedSize a, CheckedSize b) {
    if (!a.fits_ || !b.fits_ || (b.value_ != 0 && a.value_ > kLimit / b.value_)) return too_large();
    return CheckedSize(a.value_ * b.value_);
  }
  friend CheckedSize operator+(CheckedSize a, CheckedSize b) {
    return a.fits_ && b.fits_ ? CheckedSize(a.value_ + b.value_) : too_large();
  }
  friend CheckedSize operator*(CheckedSize a, std::uint64_t b) { return a * CheckedSize(b); }
  friend CheckedSize operator+(CheckedSize a, std::uint64_t b) { return a + CheckedSize(b); }

 private:
  static CheckedSize too_large() { return CheckedSize(kLimit + 1); }

  std::uint64_t value_;
  bool fits_;
};

}  // namespace halftone::codec
