// Models from and to files, for native programs: the core itself has no file system.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "halftone/model.h"
#include "halftone/result.h"
#include "halftone/writer.h"

namespace halftone::tools {

inline constexpr std::uint64_t kSliceBytes = 16U << 20U;

// Called with each slice of the .onnx file, in order, once it is in memory.
using SliceObserver = std::function<void(std::span<const std::uint8_t>)>;

// Reads a model in slices of kSliceBytes, and its external data from the model's folder. Errors: kNotOnnx for
// what isn't a readable file, those of ModelLoader, kExternalDataMissing for an external file that can't be
// opened.
Result<std::shared_ptr<const Model>> open_model_file(const std::string& path,
                                                     const SliceObserver& observe = {});

// Writes the pieces one after another. Errors: kInvalidState if the file can't be written.
Result<void> write_rope(const ByteRope& rope, const std::string& path);

}  // namespace halftone::tools
