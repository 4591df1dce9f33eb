// The shared parameter sets that a model declares.
#pragma once

#include <string>

#include "halftone/model.h"
#include "halftone/shared_parameters.h"

namespace halftone::codec {

// By name. Errors: kInvalidGraph for a set that the model doesn't declare ("parameter_ref"), or that names an
// initializer which isn't there; those of SharedParameterSet::make.
Result<SharedParameterSet> find_shared_set(const Model& model, const std::string& name,
                                           const StructCatalogue& catalogue);

// What values of the set are encoded with.
Result<CodecProfile> shared_profile(const SharedParameterSet& set, const StructCatalogue& catalogue);

}  // namespace halftone::codec
