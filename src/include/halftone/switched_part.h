// A part of a model in which single quantizers are switched on by what it is fed, so that one session serves
// many variants of a sweep.
//
// An activation gets an addend: its readers read Sum(T, addend), 0 while it is off. On, the addend is
// Q(T) - T with Q(T) = dequantize(quantize(T)), which makes the sum exactly Q(T): the difference of two
// floats within a factor of two of each other is exact (Sterbenz), and so is that of T and 0. Where T is
// clipped by more than that the sum may be inexact, which whoever makes the addend has to check. A weight
// becomes a graph input, fed with its own values or with its simulated ones. Nodes behind a Conv that a
// runtime folds into constant weights (BatchNormalization, Mul, Add) are folded here, with the same
// roundings, since it can't fold into weights that it doesn't know.
//
// Whether the part with everything off gives the float model's values bit for bit is for the caller to prove.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

enum class SwitchKind : std::uint8_t {
  kInput,   // `feed` is the site's tensor, which crosses the cut: T is off, Q(T) is on
  kAddend,  // `feed` is the addend of `tensor`, of rank `rank`: [1, …, 1] zero is off, Q(T) - T is on
  kValues,  // `feed` is the constant's stand-in: `off` and `on` are what to feed
};

struct SiteSwitch {
  SwitchKind kind = SwitchKind::kInput;
  std::string feed;                // a graph input of the part
  std::string tensor;              // the site's tensor; for kAddend also an output of the part
  std::size_t rank = 0;            // of an addend
  std::vector<std::int64_t> dims;  // of values
  std::vector<float> off;          // kValues only
  std::vector<float> on;
};

struct SwitchedPart {
  std::shared_ptr<const Model> model;
  // By site; nullopt where it has no switch.
  std::vector<std::optional<SiteSwitch>> switches;
};

// Not an activation that serves an output, nor one of unknown rank, nor one that a Shape reads as well, as in
// front of attention: with a sum there a runtime doesn't join operators as it does in the float model. And
// nothing that isn't float32.
bool has_switch(const Graph& graph, const Site& site);

// `part` is a model or a part of one (subgraph.h), `sites` are weights and activations of the plan that it
// was made for. Linear in the part and in the values of its weights. Errors: kInvalidState for a site without
// an encoding, kInvalidPolicy for an encoding that doesn't fit, and those of ModelEditor::finish.
Result<SwitchedPart> switched_part(const std::shared_ptr<const Model>& part,
                                   std::span<const Site* const> sites, const Encodings& encodings);

// What switches an activation on, for its values: Q(T) - T (kAddend) or Q(T) itself (kInput) into `into`,
// which may not be `values`. Answers whether T + into is Q(T) bit for bit, but for the sign of a zero; always
// true for kInput. Errors: those of fake_quantize, kShapeMismatch if `dims` and sizes differ.
Result<bool> switch_on(SwitchKind kind, std::span<const float> values, std::span<const std::int64_t> dims,
                       const Encoding& encoding, std::span<float> into);

}  // namespace halftone
