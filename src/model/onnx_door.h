// The one door to the ONNX library: what it is asked, in our words. It throws; nothing thrown passes this
// door. (Type inference, the third question, has its own header: type_inference.h.)
//
// The library (ONNX 1.17) knows operator sets up to 22, IR versions up to 10 and element types up to int4.
// What is newer is said by a warning of its own name and otherwise left as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

inline constexpr std::int64_t kNewestKnownOpset = 22;
// The converter's steps from older sets index shapes without looking.
inline constexpr std::int64_t kOldestConvertibleOpset = 7;
inline constexpr std::int64_t kNewestKnownIrVersion = 10;
inline constexpr std::int32_t kNewestKnownType = 22;

// The library's checker on a copy of the model without its bulk bytes (what it says about them would need the
// bytes; the loader has checked them). Precondition: resolve_scopes() found no fault. Warnings, at most one
// of each kind: "checker_failed"; and, saying why there was no check, "opset_newer_than_library",
// "type_newer_than_library", "operator_unknown" (experimental operators, about which the library writes to
// the standard output); "ir_version_newer_than_library" (checked as the newest known).
std::vector<Warning> check_with_library(const onnx::ModelProto& model);

// What one node becomes at another version of the default operator set.
struct ConvertedNode {
  std::vector<onnx::NodeProto> nodes;           // in order
  std::vector<onnx::TensorProto> initializers;  // new constants that they read
};

struct NodeInputType {
  DataType type = DataType::kUndefined;
  std::optional<std::vector<Dimension>> shape;
};

// A name that nothing in the model has yet, as near as can be to the wanted one.
using NameSource = std::function<std::string(std::string_view wanted)>;

// Whether an operator of the default set means the same at both versions. kUnknown: the library doesn't know
// it at one.
enum class OperatorChange : std::uint8_t { kSame, kChanged, kUnknown };
OperatorChange operator_change(std::string_view op_type, std::int64_t from, std::int64_t to);

// Converts one node of the default domain. `inputs`: what is known about its inputs, parallel to
// node.input(). Tensors that come between the old and the new nodes get names from `fresh_name`. Bulk tensors
// and subgraphs in attributes are taken out by the caller before and put back after. Errors:
// kUnsupportedOpset with the library's reason, or if `from` is below kOldestConvertibleOpset.
Result<ConvertedNode> convert_node(const onnx::NodeProto& node, const std::vector<NodeInputType>& inputs,
                                   std::int64_t from, std::int64_t to, const NameSource& fresh_name);

}  // namespace halftone
