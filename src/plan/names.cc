// Wire names of the enums of plan.h; those of targets are in targets.cc.
#include "halftone/plan.h"

namespace halftone {

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kActivation:
      return "activation";
    case Role::kWeight:
      return "weight";
    case Role::kBias:
      return "bias";
  }
  return "activation";
}

std::string_view granularity_name(Granularity unit) {
  switch (unit) {
    case Granularity::kTensor:
      return "tensor";
    case Granularity::kChannel:
      return "channel";
    case Granularity::kBlock:
      return "block";
  }
  return "tensor";
}

}  // namespace halftone
