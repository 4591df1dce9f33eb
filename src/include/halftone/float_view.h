// Views of float32 values that may lie at any byte address.
//
// Weights are read where the model file put them, and protobuf and external data files align nothing, so a
// plain std::span<const float> over them would be undefined behaviour. Views own nothing; the bytes have to
// outlive them. Values are little endian, as in ONNX and on every platform that this builds for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "halftone/result.h"

namespace halftone {

static_assert(std::endian::native == std::endian::little,
              "stored tensors are read and written without byte swaps");

// Read-only. size() is in elements. Zero length is allowed, with any pointer.
class FloatView {
 public:
  FloatView() = default;
  FloatView(std::span<const float> values)  // NOLINT(google-explicit-constructor)
      : bytes_(reinterpret_cast<const std::uint8_t*>(values.data())), size_(values.size()) {}

  // Errors: kShapeMismatch if the number of bytes is no multiple of 4.
  static Result<FloatView> from_bytes(std::span<const std::uint8_t> bytes) {
    if (bytes.size() % sizeof(float) != 0) {
      return Error{ErrorCode::kShapeMismatch,
                   std::to_string(bytes.size()) + " bytes are no whole number of float32 values.", "",
                   "Check the tensor's type and size."};
    }
    FloatView view;
    view.bytes_ = bytes.data();
    view.size_ = bytes.size() / sizeof(float);
    return view;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::uint8_t* bytes() const { return bytes_; }
  // Precondition: index < size().
  [[nodiscard]] float operator[](std::size_t index) const {
    float value = 0.0F;
    std::memcpy(&value, bytes_ + index * sizeof(float), sizeof(float));
    return value;
  }
  // Precondition: offset + count <= size().
  [[nodiscard]] FloatView subview(std::size_t offset, std::size_t count) const {
    FloatView view;
    view.bytes_ = bytes_ + offset * sizeof(float);
    view.size_ = count;
    return view;
  }

 private:
  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// Writable. The same rules.
class MutableFloatView {
 public:
  MutableFloatView() = default;
  MutableFloatView(std::span<float> values)  // NOLINT(google-explicit-constructor)
      : bytes_(reinterpret_cast<std::uint8_t*>(values.data())), size_(values.size()) {}

  // Errors: kShapeMismatch if the number of bytes is no multiple of 4.
  static Result<MutableFloatView> from_bytes(std::span<std::uint8_t> bytes) {
    const Result<FloatView> checked = FloatView::from_bytes(bytes);
    if (!checked.ok()) return checked.error();
    MutableFloatView view;
    view.bytes_ = bytes.data();
    view.size_ = bytes.size() / sizeof(float);
    return view;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint8_t* bytes() const { return bytes_; }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace halftone
