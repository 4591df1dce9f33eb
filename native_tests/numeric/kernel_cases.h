// Data that kernels are tested on, and the instruction sets that they are tested with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "halftone/number_format.h"

namespace halftone::kernel_cases {

// Lengths around every vector width and unroll step in use, and a prime:
// {0, 1, 2, 3, N-1, N, N+1, 2N-1, 2N, 2N+1, 3N+2} for N = 4, 8, 16, 32, 64.
std::vector<std::size_t> lengths();

// Start offsets in bytes: aligned, one and three elements further, and one that no element is aligned to.
inline constexpr std::size_t kOffsets[] = {0, 4, 12, 1};

// All formats that have quantize kernels.
std::vector<NumberFormat> quantize_formats();

// Those of them whose codes are integers.
std::vector<NumberFormat> integer_formats();

struct Grain {
  float scale;
  std::int32_t zero_point;
};

// A scale from denormal to huge and a zero point anywhere in the format.
Grain random_grain(NumberFormat format, std::mt19937& random);

// `count` values that a kernel could get wrong for this grain, in random order: ties and their neighbours,
// both ends of the saturation with their neighbours, +-0, denormals, +-infinity, NaN of both signs, the
// largest float, and ordinary ones.
std::vector<float> hard_values(NumberFormat format, Grain grain, std::size_t count, std::mt19937& random);

// Ordinary finite values in -4..4, the same in every build (the standard library's distributions are not).
std::vector<float> plain_values(std::size_t count, std::mt19937& random);

// Memory that knows when somebody wrote outside of it: `bytes` bytes at `offset` behind a canary, and a
// canary behind them.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, std::size_t offset);
  [[nodiscard]] std::uint8_t* data() { return memory_.data() + kGuard + offset_; }
  [[nodiscard]] std::vector<std::uint8_t> contents() const;
  [[nodiscard]] bool intact() const;

 private:
  static constexpr std::size_t kGuard = 256;
  std::size_t bytes_;
  std::size_t offset_;
  std::vector<std::uint8_t> memory_;
};

// Runs `body` once for every instruction set that was compiled in and that this machine has, with that one in
// use. Returns their names.
std::vector<std::string> for_each_instruction_set(void (*body)());

}  // namespace halftone::kernel_cases
