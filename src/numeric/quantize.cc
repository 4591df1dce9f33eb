#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "halftone/quant_grid.h"
#include "numeric/grid_checks.h"
#include "numeric/grid_walk.h"
#include "numeric/kernel_set.h"

namespace halftone {
namespace {

using numeric::CodeKernels;
using numeric::CodeStorage;
using numeric::PeriodicGrid;
using numeric::RowGrid;

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
// Codes of 4 and 2 bits pass through this many bytes on their way; a multiple of 4, so that no byte is cut.
constexpr std::size_t kPackBuffer = 4096;

const CodeKernels& kernels_of(CodeStorage storage) {
  return numeric::simd_code_kernels().by_storage[static_cast<std::size_t>(storage)];
}

class QuantizeVisitor final : public numeric::PieceVisitor {
 public:
  QuantizeVisitor(FloatView x, CodeStorage storage, std::uint8_t* codes)
      : kernels_(kernels_of(storage)),
        code_bytes_(numeric::kCodeStorageBytes[static_cast<std::size_t>(storage)]),
        x_(x.bytes()),
        codes_(codes) {}

  std::size_t room() override { return kUnlimited; }
  void rows(std::size_t rows, std::size_t length, const RowGrid& grid) override {
    kernels_.quantize_rows(x_, rows, length, grid, codes_);
    advance(rows * length);
  }
  void periodic(std::size_t count, const PeriodicGrid& grid) override {
    kernels_.quantize_periodic(x_, count, grid, codes_);
    advance(count);
  }

 private:
  void advance(std::size_t count) {
    x_ += count * sizeof(float);
    codes_ += count * code_bytes_;
  }

  const CodeKernels& kernels_;
  std::size_t code_bytes_;
  const std::uint8_t* x_;
  std::uint8_t* codes_;
};

class PackedQuantizeVisitor final : public numeric::PieceVisitor {
 public:
  PackedQuantizeVisitor(FloatView x, NumberFormat format, std::uint8_t* packed)
      : kernels_(kernels_of(numeric::code_storage_of(format))),
        quarters_(number_format_info(format).bits == 2),
        x_(x.bytes()),
        packed_(packed) {}

  std::size_t room() override {
    if (filled_ == kPackBuffer) flush();
    return kPackBuffer - filled_;
  }
  void rows(std::size_t rows, std::size_t length, const RowGrid& grid) override {
    kernels_.quantize_rows(x_, rows, length, grid, buffer_.data() + filled_);
    advance(rows * length);
  }
  void periodic(std::size_t count, const PeriodicGrid& grid) override {
    kernels_.quantize_periodic(x_, count, grid, buffer_.data() + filled_);
    advance(count);
  }
  // Writes what is still in the buffer, a tail padded with zeros.
  void flush() {
    const numeric::CodeKernelSet& set = numeric::simd_code_kernels();
    (quarters_ ? set.pack_quarters : set.pack_nibbles)(buffer_.data(), filled_, packed_);
    packed_ += quarters_ ? (filled_ + 3) / 4 : (filled_ + 1) / 2;
    filled_ = 0;
  }

 private:
  void advance(std::size_t count) {
    x_ += count * sizeof(float);
    filled_ += count;
  }

  const CodeKernels& kernels_;
  bool quarters_;
  const std::uint8_t* x_;
  std::uint8_t* packed_;
  std::array<std::uint8_t, kPackBuffer> buffer_;
  std::size_t filled_ = 0;
};

class DequantizeVisitor final : public numeric::PieceVisitor {
 public:
  DequantizeVisitor(const std::uint8_t* codes, CodeStorage storage, MutableFloatView y)
      : kernels_(kernels_of(storage)),
        code_bytes_(numeric::kCodeStorageBytes[static_cast<std::size_t>(storage)]),
        codes_(codes),
        y_(y.bytes()) {}

  std::size_t room() override { return kUnlimited; }
  void rows(std::size_t rows, std::size_t length, const RowGrid& grid) override {
    kernels_.dequantize_rows(codes_, rows, length, grid, y_);
    advance(rows * length);
  }
  void periodic(std::size_t count, const PeriodicGrid& grid) override {
    kernels_.dequantize_periodic(codes_, count, grid, y_);
    advance(count);
  }

 private:
  void advance(std::size_t count) {
    codes_ += count * code_bytes_;
    y_ += count * sizeof(float);
  }

  const CodeKernels& kernels_;
  std::size_t code_bytes_;
  const std::uint8_t* codes_;
  std::uint8_t* y_;
};

class PackedDequantizeVisitor final : public numeric::PieceVisitor {
 public:
  PackedDequantizeVisitor(const std::uint8_t* packed, NumberFormat format, MutableFloatView y)
      : kernels_(kernels_of(numeric::code_storage_of(format))),
        quarters_(number_format_info(format).bits == 2),
        sign_extend_(number_format_info(format).lowest < 0),
        packed_(packed),
        left_(y.size()),
        y_(y.bytes()) {}

  std::size_t room() override {
    if (used_ == filled_) refill();
    return filled_ - used_;
  }
  void rows(std::size_t rows, std::size_t length, const RowGrid& grid) override {
    kernels_.dequantize_rows(buffer_.data() + used_, rows, length, grid, y_);
    advance(rows * length);
  }
  void periodic(std::size_t count, const PeriodicGrid& grid) override {
    kernels_.dequantize_periodic(buffer_.data() + used_, count, grid, y_);
    advance(count);
  }

 private:
  void refill() {
    filled_ = std::min(left_, kPackBuffer);
    const numeric::CodeKernelSet& set = numeric::simd_code_kernels();
    (quarters_ ? set.unpack_quarters : set.unpack_nibbles)(packed_, filled_, sign_extend_, buffer_.data());
    packed_ += quarters_ ? filled_ / 4 : filled_ / 2;
    left_ -= filled_;
    used_ = 0;
  }
  void advance(std::size_t count) {
    used_ += count;
    y_ += count * sizeof(float);
  }

  const CodeKernels& kernels_;
  bool quarters_;
  bool sign_extend_;
  const std::uint8_t* packed_;
  std::size_t left_;
  std::uint8_t* y_;
  std::array<std::uint8_t, kPackBuffer> buffer_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
};

class FakeQuantizeVisitor final : public numeric::PieceVisitor {
 public:
  FakeQuantizeVisitor(FloatView x, CodeStorage storage, MutableFloatView y)
      : kernels_(kernels_of(storage)), x_(x.bytes()), y_(y.bytes()) {}

  std::size_t room() override { return kUnlimited; }
  void rows(std::size_t rows, std::size_t length, const RowGrid& grid) override {
    kernels_.fake_quantize_rows(x_, rows, length, grid, y_);
    advance(rows * length);
  }
  void periodic(std::size_t count, const PeriodicGrid& grid) override {
    kernels_.fake_quantize_periodic(x_, count, grid, y_);
    advance(count);
  }

 private:
  void advance(std::size_t count) {
    x_ += count * sizeof(float);
    y_ += count * sizeof(float);
  }

  const CodeKernels& kernels_;
  const std::uint8_t* x_;
  std::uint8_t* y_;
};

// int32 codes are biases: few, so a plain loop will do.
void dequantize_int32(const std::uint8_t* codes, const QuantGrid& grid, std::uint8_t* y) {
  const GridLayout& layout = grid.layout;
  const std::size_t block = layout.block_size == 0 ? 1 : layout.block_size;
  const std::size_t blocks = (layout.channels + block - 1) / block;
  for (std::size_t i = 0; i < layout.element_count(); ++i) {
    const std::size_t inner = i % layout.inner;
    const std::size_t channel = i / layout.inner % layout.channels;
    const std::size_t outer = i / layout.inner / layout.channels;
    const std::size_t at =
        layout.block_size == 0 ? channel : (outer * blocks + channel / block) * layout.inner + inner;
    std::int32_t code = 0;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    const std::int64_t zero_point = grid.zero_points.empty() ? 0 : grid.zero_points[at];
    const float value = static_cast<float>(std::int64_t{code} - zero_point) * grid.scales[at];
    std::memcpy(y + i * sizeof(value), &value, sizeof(value));
  }
}

}  // namespace

Result<void> quantize(FloatView x, const QuantGrid& grid, std::span<std::uint8_t> codes) {
  const Result<void> checked = check_grid(grid, x.size(), codes.size(), true);
  if (!checked.ok()) return checked;
  if (number_format_info(grid.format).bits < 8) {
    PackedQuantizeVisitor visitor(x, grid.format, codes.data());
    walk_grid(grid, visitor);
    visitor.flush();
    return {};
  }
  QuantizeVisitor visitor(x, numeric::code_storage_of(grid.format), codes.data());
  walk_grid(grid, visitor);
  return {};
}

Result<void> dequantize(std::span<const std::uint8_t> codes, const QuantGrid& grid, MutableFloatView y) {
  const Result<void> checked = check_grid(grid, y.size(), codes.size(), false);
  if (!checked.ok()) return checked;
  if (grid.format == NumberFormat::kInt32) {
    dequantize_int32(codes.data(), grid, y.bytes());
    return {};
  }
  if (number_format_info(grid.format).bits < 8) {
    PackedDequantizeVisitor visitor(codes.data(), grid.format, y);
    walk_grid(grid, visitor);
    return {};
  }
  DequantizeVisitor visitor(codes.data(), numeric::code_storage_of(grid.format), y);
  walk_grid(grid, visitor);
  return {};
}

Result<void> fake_quantize(FloatView x, const QuantGrid& grid, MutableFloatView y) {
  Result<void> checked = check_grid(grid, x.size(), std::nullopt, true);
  if (checked.ok()) checked = check_layout(grid.layout, y.size());
  if (!checked.ok()) return checked;
  FakeQuantizeVisitor visitor(x, numeric::code_storage_of(grid.format), y);
  walk_grid(grid, visitor);
  return {};
}

}  // namespace halftone
