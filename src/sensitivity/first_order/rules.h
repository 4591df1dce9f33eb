// How gradients go back through operators.
#pragma once

#include <string_view>

#include "halftone/result.h"
#include "sensitivity/first_order/backward_step.h"

namespace halftone::first_order_model {

// Fills in what the step wants, of which input 0 is there. Errors: kUnsupportedOp for forms of the operator
// that it can't go through.
using RuleFunction = Result<void> (*)(BackwardStep&);

struct Rule {
  std::string_view op;
  RuleFunction go_back = nullptr;
  bool all_outputs = false;  // false: it takes a gradient of output 0 alone
};

// Of an operator of the default domain; nullptr if there is none.
const Rule* rule_of(std::string_view op);

// By family, each in the file of that name. Element by element:
Result<void> back_activation(BackwardStep& step);
// With several operands that are broadcast:
Result<void> back_arithmetic(BackwardStep& step);
Result<void> back_extremum(BackwardStep& step);
Result<void> back_where(BackwardStep& step);
Result<void> back_prelu(BackwardStep& step);
// Sums of products:
Result<void> back_conv(BackwardStep& step);
Result<void> back_conv_transpose(BackwardStep& step);
Result<void> back_matmul(BackwardStep& step);
Result<void> back_gemm(BackwardStep& step);
// Values that only move:
Result<void> back_reshape(BackwardStep& step);
Result<void> back_transpose(BackwardStep& step);
Result<void> back_depth_and_space(BackwardStep& step);
Result<void> back_expand(BackwardStep& step);
Result<void> back_concat(BackwardStep& step);
Result<void> back_split(BackwardStep& step);
Result<void> back_slice(BackwardStep& step);
Result<void> back_pad(BackwardStep& step);
Result<void> back_gather(BackwardStep& step);
Result<void> back_resize(BackwardStep& step);
// Over windows or axes:
Result<void> back_global_average(BackwardStep& step);
Result<void> back_global_max(BackwardStep& step);
Result<void> back_reduction(BackwardStep& step);
Result<void> back_max_pool(BackwardStep& step);
Result<void> back_average_pool(BackwardStep& step);
Result<void> back_softmax(BackwardStep& step);
Result<void> back_batch_normalization(BackwardStep& step);
Result<void> back_layer_normalization(BackwardStep& step);
Result<void> back_instance_normalization(BackwardStep& step);

}  // namespace halftone::first_order_model
