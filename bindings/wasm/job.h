// Work that JavaScript feeds piece by piece: one handle class, several kinds. A method that a kind doesn't
// have answers kInvalidState. Every method returns a result object (see conversions.h). Dropping the handle
// drops the work.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "live_objects.h"

namespace halftone::wasm {

class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // A variant as a skeleton: kind "float"; "base", which is the float model, or the simulated one in a sweep
  // by disabling; "cuts" (the base, with the tensors at all cuts as outputs), "group" (number `index`),
  // "simulated", "weights" or "activations" (simulated, these alone), "gated", "quantized", "float_tensors"
  // or "simulated_tensors" (with every activation as an output). `cut`: of "base" and "group" only what lies
  // behind this cut, with the tensors that cross it as inputs; -1 for all.
  virtual emscripten::val skeleton(const std::string& kind, int index, int cut);
  // The model with switches for the sites of these groups (halftone/switched_part.h) and stages that end at
  // the cuts `stages` (halftone/staged.h): the skeleton's members; `switches`, a list of {tensor, kind:
  // "input", "addend" or "values", feed, rank, dims, off, on} of those that have a switch; and `start`,
  // `feeds`, a list of {tensor, feed, type, rank}, and `borders`, a list of {cut, crossing}, of the stages.
  virtual emscripten::val switched(const emscripten::val& groups, const emscripten::val& stages);
  // What the quantizers of these tensors do to the scored one, to first order (halftone/first_order.h): the
  // skeleton's members, `cotangent` and `effects`. `shapes`: [[input, dims]], for inputs of these only.
  // Errors: kUnsupportedOp where several tensors are scored.
  virtual emscripten::val first_order(const emscripten::val& tensors, const emscripten::val& shapes);
  // Takes in values of tensor number `index`: a Float32Array, and for comparisons the other model's.
  virtual emscripten::val feed(int index, const emscripten::val& values,
                               const emscripten::val& dims_or_others);
  // Bytes of part 0 (the model) or 1 (external data), as a new Uint8Array.
  virtual emscripten::val read(int part, double offset, double length);
  // What is known now.
  virtual emscripten::val result();

 private:
  LiveObject live_;
};

}  // namespace halftone::wasm
