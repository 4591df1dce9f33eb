// Errors as values. Everything in Halftone that can fail returns Result<T>; nothing throws.
//
// Ownership: a Result owns its value or its error. Threading: plain data, no shared state. The list of codes
// is closed: JavaScript, the CLI and the page mirror it, and a test compares the mirrors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace halftone {

enum class ErrorCode {
  kTruncated,            // the input ends before its own lengths say it should
  kNotOnnx,              // the bytes are not an ONNX model (empty, another format, random
                         // bytes)
  kUnsupportedOpset,     // an opset or IR version that this operation can't handle
  kUnsupportedOp,        // an operator that this operation can't handle
  kUnsupportedType,      // an element type that this operation can't handle
  kInvalidGraph,         // a model that contradicts itself: cycles, duplicate names,
                         // bad dims
  kExternalDataMissing,  // an external data file is absent, too short, or
                         // outside the model's folder
  kShapeMismatch,        // a tensor's shape is not the one that is needed
  kInvalidPolicy,        // options or a plan that contradict themselves or the model
  kInvalidSample,        // a calibration sample that can't be read or doesn't fit the
                         // model's inputs
  kInvalidState,         // a call at the wrong time: before opening, after closing,
                         // twice
  kNonFinite,            // NaN or infinity where a range has to be computed
  kTooLarge,             // over a stated limit
  kOutOfMemory,          // memory ran out
  kCancelled,            // the caller asked to stop
  kInternal,             // a fault of Halftone itself
};

// The wire name of a code: the enumerator without its k, in snake_case ("not_onnx"). Never empty.
std::string_view error_code_name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one sentence: what is wrong. Names in it are already
                        // safe to print (see printable())
  std::string where;    // a node or tensor name, or "byte 1234"; may be empty
  std::string next;     // one sentence: what a person can do next; may be empty
};

// A model's names are hostile: returns `name` with control characters, line ends and invalid UTF-8 replaced
// by U+FFFD and cut to at most `max_bytes` (an ellipsis marks the cut). For messages only; HTML needs its own
// escaping.
std::string printable(std::string_view name, std::size_t max_bytes = 120);

// A value of type T, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  // Precondition: !ok().
  [[nodiscard]] const Error& error() const& { return *std::get_if<1>(&state_); }
  [[nodiscard]] Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or the reason why not. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

// Something worth telling that doesn't stop the work. `code` is a stable snake_case word such as
// "shape_inference_failed".
struct Warning {
  std::string code;
  std::string message;
  std::string where;
};

}  // namespace halftone
