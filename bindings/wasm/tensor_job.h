// Work on the values of one tensor that JavaScript brings piece by piece into core memory: encoding,
// decoding, trying out formats. What a job holds doesn't grow with the tensor, unless its kind says so.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/result.h"
#include "live_objects.h"

namespace halftone::wasm {

class TensorJob {
 public:
  TensorJob() = default;
  virtual ~TensorJob() = default;
  TensorJob(const TensorJob&) = delete;
  TensorJob& operator=(const TensorJob&) = delete;

  // A view of core memory for the next bytes, at most `wanted`: to be filled at once and then committed.
  // Empty when all is there, and for jobs that have their values already. No result object.
  virtual emscripten::val next(double wanted);
  // Takes in the bytes that were filled (of jobs that have their values: goes on by so many).
  virtual emscripten::val commit(double bytes);
  // What has been made since the last call, of output number `part`: a new Uint8Array.
  virtual emscripten::val take(int part);
  // What is known at the end.
  virtual emscripten::val result();

 private:
  LiveObject live_;
};

// A job whose input arrives in pieces that it chooses.
class FedJob : public TensorJob {
 public:
  emscripten::val next(double wanted) final;
  emscripten::val commit(double bytes) final;
  emscripten::val take(int part) final;
  emscripten::val result() override;

 protected:
  explicit FedJob(std::size_t parts) : parts_(parts) {}

  // How many bytes the next piece has; 0 behind the last.
  [[nodiscard]] virtual std::uint64_t next_piece() const = 0;
  virtual Result<void> use(std::span<const std::uint8_t> piece) = 0;

  [[nodiscard]] std::vector<std::uint8_t>& part(std::size_t index) { return parts_[index]; }

 private:
  std::vector<std::uint8_t> piece_;
  std::size_t filled_ = 0;
  std::vector<std::vector<std::uint8_t>> parts_;
};

}  // namespace halftone::wasm
