// From the bytes of a .onnx file to its skeleton.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

struct Skeleton {
  onnx::ModelProto model;
  std::vector<ExternalFile> external_files;  // in order of their first use; locations in normal form
};

// Messages may nest this deep, subgraphs included (a subgraph adds three levels). Below protobuf's own limit
// of 100.
inline constexpr int kMaxMessageDepth = 64;

// Walks the file's messages once. Tensors whose data is larger than kInlineLimitBytes and lies in one piece
// are left where they are and located under `store_path`; so are external ones, under their files' store
// paths; so are large fields that ONNX doesn't know (extension_fields.h). All else is parsed by protobuf.
// Time and memory are linear in what isn't bulk data. Errors: kNotOnnx, kTruncated, kInvalidGraph,
// kExternalDataMissing, kTooLarge, kOutOfMemory; `where` is a tensor or "byte N".
Result<Skeleton> read_skeleton(std::span<const std::uint8_t> file, std::string_view store_path);

}  // namespace halftone
