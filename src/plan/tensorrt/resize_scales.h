// ModelOpt's get_resize_scales: the scales of Resize nodes, which a conversion to float16 has to leave alone
// (6/7 becomes 0.85693 there, and 7 * 0.85693 makes 5 pixels where 6 were meant).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/model.h"
#include "halftone/result.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct ResizeScales {
  std::string node;                  // label
  DataType type = DataType::kFloat;  // always kFloat
  std::vector<std::uint8_t> bytes;   // little endian, as in the model; empty for scales of no elements
};

// For each Resize, in graph order, whose input 2 is stored float32 data: with Peer::kReproduce an
// initializer, as the peer looks for, else any constant. A Resize by `sizes` (input 3) has none. The peer
// loses scales that lie in the field float_data; here the field makes no difference. Errors: those of
// Model::constant.
Result<std::vector<ResizeScales>> get_resize_scales(const Model& model, const PolicyGraph& graph);

}  // namespace halftone::tensorrt
