// A part of a model as a model of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// What computes `outputs` once the values of `inputs` are known: nodes in the base's order, names kept,
// weights shared. Its graph inputs are exactly `inputs` (with the base's types and shapes), its outputs
// exactly `outputs`. Constant nodes that hold a dense tensor become initializers, which costs a runtime less;
// functions, opsets and metadata are the base's. Linear in the size of the graph. Errors: kInvalidPolicy for
// a name that isn't in the graph, an input that is constant or whose type isn't known, or an output that
// `inputs` don't determine.
Result<std::shared_ptr<const Model>> subgraph(const std::shared_ptr<const Model>& model,
                                              const std::vector<std::string>& inputs,
                                              const std::vector<std::string>& outputs);

}  // namespace halftone
