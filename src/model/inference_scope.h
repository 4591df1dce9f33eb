// What type inference knows in one graph or function body: types and small constant values by name; names
// that are not here are looked up in the graph around it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/onnx_messages.h"

namespace halftone {

class InferenceScope {
 public:
  // `opsets`: version by domain; must outlive the scope, as must `outer` and everything that names are views
  // of.
  using Opsets = std::unordered_map<std::string, std::int64_t>;
  InferenceScope(const Opsets& opsets, const InferenceScope* outer) : opsets_(&opsets), outer_(outer) {}

  [[nodiscard]] const Opsets& opsets() const { return *opsets_; }
  [[nodiscard]] const InferenceScope* outer() const { return outer_; }

  // nullptr: not known.
  [[nodiscard]] const onnx::TypeProto* type(std::string_view name) const;
  // nullptr: not constant, or its value isn't at hand. What is given fits its own dims and type.
  [[nodiscard]] const onnx::TensorProto* constant(std::string_view name) const;

  // Adds to what is known about a name of this scope. Returns false, changing nothing, if it contradicts what
  // is known.
  bool add_type(std::string_view name, const onnx::TypeProto& type);
  // Replaces what is known. Ignored if the tensor isn't one that inference functions read without care: bulk
  // data, strings, or data that doesn't fit its dims.
  void set_constant(std::string_view name, const onnx::TensorProto& tensor);
  void set_constant(std::string_view name, onnx::TensorProto&& tensor);

 private:
  const Opsets* opsets_;
  const InferenceScope* outer_;
  std::unordered_map<std::string_view, onnx::TypeProto> types_;
  std::unordered_map<std::string_view, const onnx::TensorProto*> constants_;
  std::deque<onnx::TensorProto> made_;
};

// Takes out of a type what would make inference slow or unsafe: symbols of absurd length, dimensions that are
// negative or beyond 2^48. False if nothing useful is left: no type, rank over kMaxRank, nested too deep.
bool clean_type(onnx::TypeProto& type);

}  // namespace halftone
