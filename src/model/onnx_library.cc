#include "model/onnx_library.h"

#include <algorithm>
#include <string>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include <onnx/defs/operator_sets.h>
#include <onnx/defs/operator_sets_ml.h>
#include <onnx/defs/operator_sets_preview.h>
#include <onnx/defs/operator_sets_training.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "halftone/result.h"

namespace halftone {

// The library is built without static registration: it would cost every start of a page or worker that never
// needs it.
void register_operators() {
  static const bool registered = [] {
    onnx::RegisterOnnxOperatorSetSchema();
    onnx::RegisterOnnxMLOperatorSetSchema();
    onnx::RegisterOnnxTrainingOperatorSetSchema();
    onnx::RegisterOnnxPreviewOperatorSetSchema();
    return true;
  }();
  static_cast<void>(registered);
}

std::int64_t newest_version(std::string_view domain) {
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto place = ranges.find(std::string(domain));
  return place == ranges.end() ? 0 : place->second.second;
}

const onnx::OpSchema* find_schema(std::string_view op_type, std::string_view domain, std::int64_t version) {
  const std::int64_t known = std::min(version, newest_version(domain));
  if (known <= 0) return nullptr;
  return onnx::OpSchemaRegistry::Schema(std::string(op_type), static_cast<int>(known), std::string(domain));
}

std::string library_message(std::string_view what) {
  constexpr std::size_t kMaxBytes = 300;
  return printable(what.substr(0, what.find('\n')), kMaxBytes);
}

}  // namespace halftone
