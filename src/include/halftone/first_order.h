// A first-order model of a sweep: what all quantizers of a model do to one scored tensor, from one run.
//
// With δ = Q(T) - T the change that a quantizer makes at its tensor, and J the derivative of the scored
// tensor by T as the site's consumers read it, a quantizer alone changes the scored tensor by e = J δ +
// O(δ²). For a cotangent v, the reverse pass through the float model gives v · (J δ) for every quantizer at
// once; for v drawn from N(0, I) the expectation of its square is |J δ|². So runs with a few cotangents
// estimate every row's squared error, at the cost of about three runs of the model each.
//
// At a kink (Relu at 0, a tie of Max) the derivative is one of the two sides'. Integers and booleans carry
// none: what passes through a rounding, a comparison or an index doesn't count.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "halftone/encoding.h"
#include "halftone/input_shapes.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

struct FirstOrder {
  // Its inputs are the model's and `cotangent`, its only output is `effects`.
  std::shared_ptr<const Model> model;
  std::string cotangent;  // float32, of the scored tensor's shape
  std::string effects;    // float32 [number of sites]: v · (J δ), by site
};

// `sites` are weights and activations of the plan that the model was made for, each tensor at most once. The
// effect of a site that the scored tensor doesn't depend on is 0. The model is raised to operator set 17 or
// what the sites' formats need. `shapes`: those of the model's inputs, if the answer
// is to run with these only, which takes nodes away that compute shapes in each run. Linear in the model and
// in the values of the sites' weights. Errors: kUnsupportedOp, naming the node, where an operator without a
// rule lies between a site and the scored tensor; kInvalidPolicy for a scored tensor that the model doesn't
// have, an encoding that doesn't fit, or a bias; kUnsupportedType for a scored tensor that isn't float32;
// kInvalidState for a site without an encoding; kUnsupportedOpset if raising the model fails or takes
// consumers of a site away; and those of ModelEditor::finish.
Result<FirstOrder> first_order(const std::shared_ptr<const Model>& model, const std::string& scored,
                               std::span<const Site* const> sites, const Encodings& encodings,
                               const InputShapes& shapes = {});

}  // namespace halftone
