// What one step of a sweep switches on or off together: groups of a plan's quantizers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

struct QuantizerGroup {
  std::string key;                 // what the row is called
  std::vector<std::string> sites;  // tensors of the plan's sites, in site order, each once; never empty
  std::string detail;              // the same, joined by ", "; empty when grouped by quantizer
};

struct Grouping {
  // "quantizer"  each by itself; the key is the tensor's name
  // "operator"   by type of the owner (see op_name)
  // "layer"      by node, as AIMET's per-layer analysis: what it reads of weights and of tensors that no node
  //              makes, and what it makes. A tensor with several readers counts in each. The key is the
  //              node's label; groups are in topological order
  // "op_name"    by owner, as AIMET's group_by_op_name: a weight's first reader in topological order, an
  //              activation's producer, and its first reader where no node makes it. Each quantizer once
  // "re:…"       what the first group of the regular expression captures of the tensor's name (leftmost, then
  //              first alternative, as in Perl); where it matches nowhere, or without that group, the
  //              quantizer is left out
  std::string by = "quantizer";
  // In place of `by`, if set. nullopt leaves the quantizer out. Called for each in site order, before
  // anything else happens. Must not throw.
  std::function<std::optional<std::string>(const Site&)> function;
  // "weights", "activations"; empty: both.
  std::string only;
};

// Over the quantized sites that have an encoding, biases aside: those follow their weights and are never
// scored. Except for "layer", groups are in order of first appearance in site order. Linear in sites and
// edges. Errors: kInvalidPolicy for an unknown `by` or `only`, and a faulty pattern or one without a group to
// capture; kInvalidState if nothing is left, with what to do.
Result<std::vector<QuantizerGroup>> quantizer_groups(const Model& model, const Plan& plan,
                                                     const Encodings& encodings, const Grouping& grouping);

}  // namespace halftone
