// The model at an opset that given quantizers can be written in, and sites as they stand there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

// `model` itself if its default operator set is at least `needed`, else what Model::with_opset makes of it.
Result<std::shared_ptr<const Model>> raised_to(const std::shared_ptr<const Model>& model,
                                               std::int64_t needed);

// The site in another form of its graph. A quantizer of target aimet belongs to a tensor, so that all readers
// that the tensor has there read it; the conversion of an opset may have put others in place of those that
// the plan names (Softmax before 13 becomes several nodes). Sites of other targets are as they are.
Site site_in(const Graph& graph, Site site);

// The sites with what this graph, which may be a part of theirs, has of their readers; those of which it has
// nothing are left out.
std::vector<Site> sites_in(const Graph& graph, std::span<const Site* const> sites);

}  // namespace halftone
