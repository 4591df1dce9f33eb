// Nodes and constants behind the end of a model under edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/editor.h"
#include "halftone/result.h"

namespace halftone::first_order_model {

using Attributes = std::vector<std::pair<std::string, AttributeValue>>;
using Ints = std::vector<std::int64_t>;

class NodeWriter {
 public:
  // `opset` is the model's version of the default operator set, at least 17.
  NodeWriter(ModelEditor& editor, std::int64_t opset) : editor_(editor), opset_(opset) {}

  // A node behind all that were added before; answers the name of its output.
  std::string add(std::string_view op, std::vector<std::string> inputs, Attributes attributes = {});
  // The same with `count` outputs.
  std::vector<std::string> add_with(std::size_t count, std::string_view op, std::vector<std::string> inputs,
                                    Attributes attributes = {});

  // Constants: a list of int64, one int64 and one float32 of rank 0, float32 values. All but the last are
  // written once.
  std::string ints(const Ints& values);
  std::string integer(std::int64_t value);
  std::string number(float value);
  std::string floats(Ints dims, const std::vector<float>& values);

  std::string sum_of(const std::vector<std::string>& terms);  // not of none
  std::string times(const std::string& tensor, float factor);
  // Σ a·b over tensors of one shape, as a tensor of rank 0.
  std::string dot(const std::string& a, const std::string& b);

  // Over these axes, which stay with size 1.
  std::string mean_over(const std::string& tensor, const Ints& axes);

  std::string fresh_name(std::string_view what);
  // What went wrong with a constant; nothing can but running out of names.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::string constant(std::string_view what, DataType type, Ints dims, std::vector<std::uint8_t> bytes);

  ModelEditor& editor_;
  std::int64_t opset_;
  std::uint64_t made_ = 0;
  std::map<Ints, std::string> ints_;
  std::map<std::int64_t, std::string> integers_;
  std::map<std::uint32_t, std::string> numbers_;  // by bits
  std::optional<Error> error_;
};

}  // namespace halftone::first_order_model
