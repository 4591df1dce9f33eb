// The general way back through an operator that moves values: it moves their numbers the same way.
#pragma once

#include <string>

#include "sensitivity/first_order/backward_step.h"

namespace halftone::first_order_model {

// Adds each value of `gradient` to the place in `like` that `places` (int64, row-major) says, both of any
// shape with as many values; answers the sums in the shape of `like`.
std::string scattered(BackwardStep& step, const std::string& gradient, const std::string& places,
                      TensorId like);

// Gives input 0 its gradient by running the operator on the numbers of its values, as tensors of this type:
// "int64", or "int32" for operators that runtimes have for no other.
void give_moved(BackwardStep& step, std::string_view type);

}  // namespace halftone::first_order_model
