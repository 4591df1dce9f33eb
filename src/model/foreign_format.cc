#include "model/foreign_format.h"

#include <algorithm>
#include <array>

namespace halftone {
namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

using namespace std::string_view_literals;

// FlatBuffers files: their name stands behind a 32-bit offset, whose upper bytes are zero. (In an ONNX file a
// producer's name may begin at the same place, but then a length that isn't zero is in front of it.)
constexpr std::array kFlatBufferNames = {
    Signature{4, "TFL3"sv, "a TensorFlow Lite model"sv},
    Signature{4, "ORTM"sv, "an ONNX Runtime .ort model"sv},
};
constexpr std::array kSignatures = {
    Signature{0, "PK\x03\x04"sv,
              "a ZIP archive, such as a PyTorch .pt, a Keras .keras or a NumPy .npz file"sv},
    Signature{0, "PK\x05\x06"sv, "an empty ZIP archive"sv},
    Signature{0, "\x80\x02"sv, "a Python pickle, such as an old PyTorch .pt file"sv},
    Signature{0, "\x80\x03"sv, "a Python pickle"sv},
    Signature{0, "\x80\x04"sv, "a Python pickle"sv},
    Signature{0, "\x80\x05"sv, "a Python pickle"sv},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, such as a Keras .h5 model"sv},
    Signature{0, "GGUF"sv, "a GGUF model"sv},
    Signature{0, "ggml"sv, "a GGML model"sv},
    Signature{0, "\x93NUMPY"sv, "a NumPy .npy array"sv},
    Signature{0, "\x1f\x8b"sv, "a gzip archive"sv},
    Signature{0, "BZh"sv, "a bzip2 archive"sv},
    Signature{0,
              "\xfd"
              "7zXZ"sv,
              "an xz archive"sv},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "a Zstandard archive"sv},
    Signature{0, "7z\xbc\xaf"sv, "a 7-Zip archive"sv},
    Signature{0, "\x89PNG"sv, "a PNG image"sv},
    Signature{0, "\xff\xd8\xff"sv, "a JPEG image"sv},
    Signature{0, "%PDF"sv, "a PDF document"sv},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "a program"sv},
    Signature{0, "\0asm"sv, "a WebAssembly module"sv},
    Signature{0, "version https://git-lfs"sv, "a Git LFS pointer, not the file that it points to"sv},
};

bool has_at(std::span<const std::uint8_t> file, std::size_t offset, std::string_view bytes) {
  if (file.size() < offset || file.size() - offset < bytes.size()) return false;
  return std::equal(
      bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset),
      [](char expected, std::uint8_t found) { return static_cast<std::uint8_t>(expected) == found; });
}

char lower(std::uint8_t byte) {
  const char c = static_cast<char>(byte);
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Text formats may start with a byte-order mark and white space.
std::optional<std::string_view> text_format(std::span<const std::uint8_t> file) {
  if (has_at(file, 0, "\xef\xbb\xbf")) file = file.subspan(3);
  std::size_t start = 0;
  while (start < file.size() && start < 256 &&
         (file[start] == ' ' || (file[start] >= '\t' && file[start] <= '\r')))
    ++start;
  std::array<char, 16> head{};
  for (std::size_t i = 0; i < head.size() && start + i < file.size(); ++i) head[i] = lower(file[start + i]);
  const std::string_view text(head.data(), head.size());
  if (text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<head")) {
    return "a web page (HTML), perhaps the page of a download instead of the file";
  }
  if (text.starts_with("<?xml") || text.starts_with("<net ")) return "an XML file, such as an OpenVINO model";
  if (text.starts_with('{') || text.starts_with('[')) return "a JSON file";
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> foreign_format(std::span<const std::uint8_t> file) {
  for (const Signature& signature : kFlatBufferNames) {
    if (has_at(file, signature.offset, signature.bytes) && file[2] == 0 && file[3] == 0)
      return signature.name;
  }
  for (const Signature& signature : kSignatures) {
    if (has_at(file, signature.offset, signature.bytes)) return signature.name;
  }
  // A safetensors header: its length in eight bytes, then JSON. A length below 2^24 keeps the upper bytes
  // zero.
  if (file.size() > 8 && file[8] == '{' &&
      std::all_of(file.begin() + 4, file.begin() + 8, [](auto b) { return b == 0; })) {
    return "a safetensors file";
  }
  return text_format(file);
}

}  // namespace halftone
