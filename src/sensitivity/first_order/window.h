// The windows of a convolution or a pooling: sizes, steps and margins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sensitivity/first_order/backward_step.h"

namespace halftone::first_order_model {

// How margins are given.
enum class Margins : std::uint8_t {
  kGiven,      // `begin` and `end` are what they are
  kSameUpper,  // as much as makes the output ceil(input / stride) long, which only a run knows; the odd one
  kSameLower,  // at the end, or at the beginning
};

struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints begin;
  Ints end;
  Margins margins = Margins::kGiven;

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  // From the first to behind the last value that a window covers.
  [[nodiscard]] std::int64_t extent(std::size_t axis) const {
    return dilations[axis] * (kernel[axis] - 1) + 1;
  }
  [[nodiscard]] bool steps_by_one() const;
};

// Of the step's node. `kernel` is what a weight says, or empty where the attribute has to. Errors:
// kUnsupportedOp for attributes that don't fit each other, negative margins, and sizes beyond 2^20.
Result<Window> window_of(const BackwardStep& step, Ints kernel);

// What a gradient of the output spread over the input is, once for every window, before margins are cut off:
// `filter` [channels of the output, channels of the input by group, kernel …]. Answers the gradient of
// `input` in its shape.
std::string spread_back(BackwardStep& step, const Window& window, const std::string& gradient,
                        const std::string& filter, std::int64_t groups, TensorId input);

}  // namespace halftone::first_order_model
