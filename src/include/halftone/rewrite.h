// From a plan to a model with Q/DQ pairs. Names are the contract's (T_QuantizeLinear, T_scale, W_quantized,
// …); one pair per tensor, shared by its consumers; weights and biases are stored as codes behind a
// DequantizeLinear. Of the plan's options, float_weights and direct_io change the form (see PlanOptions), in
// insert_qdq only: simulations have float inputs and outputs, and weights that are float anyway.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

struct Change {
  std::string what;   // one sentence
  std::string where;  // node or tensor; may be empty
};

struct QuantizedModel {
  std::shared_ptr<const Model> model;
  std::vector<Change> changes;  // everything that was done besides inserting the
                                // pairs: opset, IR version, constants replaced
};

struct Provenance {
  std::string method;  // "minmax"
  std::int64_t samples = 0;
  bool random_data = false;  // written into the metadata, since nobody should
                             // deploy such a model unknowingly
};

// The plan's quantized sites with these encodings, and the origin in the metadata (tool, version, target,
// method, samples). The opset is raised only if the chosen types need it. Errors: kInvalidState for a missing
// encoding or an already quantized model; kInvalidPolicy where check_plan finds a fault or members of a scale
// group have different scales; kUnsupportedOpset from the converter.
Result<QuantizedModel> insert_qdq(const std::shared_ptr<const Model>& model, const Plan& plan,
                                  const Encodings& encodings, const Provenance& provenance);

// The model that a runner loads to see what one site alone does, everything else in float. Activation: the
// graph with this one Q/DQ pair. Weight: the graph unchanged but for the initializer, whose values are
// float32(code * scale) computed by our kernels. Costs kilobytes plus, for a weight, that weight. A pair that
// needs a newer opset than the model has raises it, which converts the whole graph each time: before a sweep,
// raise the model once with with_opset(plan.opset_needed). Errors: kInvalidPolicy for a bias site (a bias is
// never scored alone).
Result<std::shared_ptr<const Model>> single_site_variant(const std::shared_ptr<const Model>& model,
                                                         const Site& site, const Encoding& encoding);

// All quantized sites together, simulated: activation pairs in the graph, weights as fake-quantized floats,
// biases as float32(code * scale).
Result<std::shared_ptr<const Model>> simulated_model(const std::shared_ptr<const Model>& model,
                                                     const Plan& plan, const Encodings& encodings);

// Some quantized sites together, simulated as above, everything else in float. `model` may be a part of the
// model that the sites were planned for (subgraph.h): a site that isn't in it, or of whose readers none is,
// is left out there, and of a site's readers those that are in it read the simulated tensor. Precondition:
// the whole model passed check_plan with these sites. Raise the model once before a sweep, as for single
// sites. Errors: kInvalidState for a missing encoding; kInvalidPolicy for one that doesn't fit.
Result<std::shared_ptr<const Model>> simulated_sites(const std::shared_ptr<const Model>& model,
                                                     std::span<const Site* const> sites,
                                                     const Encodings& encodings);

// One model with a switch at every site: a bool graph input for each, [1, …, 1] of the tensor's rank (of rank
// 0 where that isn't known), behind which a Where takes the simulated tensor or the float one. Running it
// with one switch on costs no new session, but every Where, and it keeps the runtime from joining operators,
// so its numbers differ in their last bits from those of a variant. What site i is switched by is `gates[i]`;
// empty where the model has nothing of the site. Conditions and errors as simulated_sites.
struct GatedModel {
  std::shared_ptr<const Model> model;
  std::vector<std::string> gates;
};
Result<GatedModel> gated_model(const std::shared_ptr<const Model>& model, std::span<const Site* const> sites,
                               const Encodings& encodings);

// The float model with `tensors` added to its outputs (those that are outputs already are left alone).
Result<std::shared_ptr<const Model>> with_outputs(const std::shared_ptr<const Model>& model,
                                                  const std::vector<std::string>& tensors);

}  // namespace halftone
