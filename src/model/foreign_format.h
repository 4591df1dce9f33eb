// Recognises files that are not ONNX models by how they begin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace halftone {

// What the file seems to be, to follow "it looks like" ("a ZIP archive, such as a PyTorch .pt file").
// nullopt: nothing known. Looks at the first few hundred bytes only. No writer of ONNX models makes one of
// these beginnings.
std::optional<std::string_view> foreign_format(std::span<const std::uint8_t> file);

}  // namespace halftone
