#include "plan/raised_opset.h"

namespace halftone {

Result<std::shared_ptr<const Model>> raised_to(const std::shared_ptr<const Model>& model,
                                               std::int64_t needed) {
  if (model->graph().opset() >= needed) return model;
  return model->with_opset(needed);
}

}  // namespace halftone
