// Choosing layers by name for 8 bits, as ModelOpt's mixed precision does: by whole path components, never by
// substring.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace halftone::tensorrt {

// A list of layers, each a run of path components: "layers.1", "attn/qkv_proj", "down_proj". Leading slashes
// don't count, and "/" and "." both separate components. Threading: immutable.
class LayerList {
 public:
  explicit LayerList(const std::vector<std::string>& layers);

  // ModelOpt's should_quantize_to_8bit: whether the components of some layer of the list stand in the name's,
  // next to each other: "layers.1" is in "/model/layers.1/mlp/MatMul" but not in "/model/layers.13/mlp". An
  // empty list contains nothing; an empty layer is an empty component. O(name length * distinct component
  // counts of the list).
  [[nodiscard]] bool should_quantize_to_8bit(std::string_view layer_name) const;

 private:
  std::unordered_set<std::string> layers_;  // components joined with "."
  std::set<std::size_t> component_counts_;
};

// ModelOpt's validate_8bit_layers: names of letters, digits and / _ . - separated by commas, with white space
// around them as one likes. An empty text is valid, an empty name isn't.
bool validate_8bit_layers(std::string_view layers);

// The names of a valid list, trimmed.
std::vector<std::string> split_8bit_layers(std::string_view layers);

}  // namespace halftone::tensorrt
