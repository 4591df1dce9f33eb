#include "halftone/writer.h"
#include "model/external_location.h"
#include "model/model_data.h"
#include "model/skeleton_writer.h"

namespace halftone {
namespace {

bool is_plain_file_name(const std::string& location) {
  const Result<std::string> normal = normal_location(location);
  return normal.ok() && normal.value() == location && location.find('/') == std::string::npos;
}

}  // namespace

Result<WrittenModel> write_model(const std::shared_ptr<const Model>& model, const WriteOptions& options) {
  if (options.placement == WeightPlacement::kExternalFile && !is_plain_file_name(options.external_location)) {
    return Error{ErrorCode::kInvalidPolicy,
                 "The weights' file needs a plain name, which \"" + printable(options.external_location) +
                     "\" is not.",
                 "", "Give a name without folders, such as model.onnx.data."};
  }
  return write_skeleton(model->data()->skeleton, model->data()->store, options);
}

}  // namespace halftone
