// The model at an opset that given quantizers can be written in.
#pragma once

#include <cstdint>
#include <memory>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// `model` itself if its default operator set is at least `needed`, else what Model::with_opset makes of it.
Result<std::shared_ptr<const Model>> raised_to(const std::shared_ptr<const Model>& model,
                                               std::int64_t needed);

}  // namespace halftone
