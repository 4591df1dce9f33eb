#include "inspect/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::tools {
namespace {

class InputFile {
 public:
  explicit InputFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // nullopt, with errno set, unless it is open and a regular file.
  [[nodiscard]] std::optional<std::uint64_t> size() const {
    struct stat facts {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &facts) != 0) return std::nullopt;
    if (!S_ISREG(facts.st_mode)) {
      errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(facts.st_size);
  }

  // Fills the whole span; false at the file's end or on an error.
  [[nodiscard]] bool read(std::span<std::uint8_t> place) const {
    while (!place.empty()) {
      const ssize_t count = ::read(descriptor_, place.data(), place.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      place = place.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  int descriptor_;
};

Error unreadable(ErrorCode code, const std::string& path) {
  return {code, "The file \"" + printable(path) + "\" can't be read: " + std::strerror(errno) + ".",
          printable(path), ""};
}

Result<void> fill(ModelLoader& loader, const InputFile& file, const std::string& path, ErrorCode code,
                  const SliceObserver& observe) {
  while (true) {
    const std::span<std::uint8_t> part = loader.next(kSliceBytes);
    if (part.empty()) return {};
    errno = EIO;
    if (!file.read(part)) return unreadable(code, path);
    if (observe) observe(part);
    if (Result<void> committed = loader.commit(part.size()); !committed) return committed;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace

Result<std::shared_ptr<const Model>> open_model_file(const std::string& path, const SliceObserver& observe) {
  const InputFile file(path);
  const std::optional<std::uint64_t> bytes = file.size();
  if (!bytes) return unreadable(ErrorCode::kNotOnnx, path);
  Result<ModelLoader> created = ModelLoader::create(*bytes);
  if (!created) return created.error();
  ModelLoader& loader = created.value();
  if (const Result<void> filled = fill(loader, file, path, ErrorCode::kNotOnnx, observe); !filled)
    return filled.error();
  const Result<std::vector<ExternalFile>> external = loader.parse();
  if (!external) return external.error();
  for (const ExternalFile& wanted : external.value()) {
    const std::string beside = folder_of(path) + wanted.location;
    const InputFile data(beside);
    const std::optional<std::uint64_t> data_bytes = data.size();
    if (!data_bytes) return unreadable(ErrorCode::kExternalDataMissing, beside);
    if (const Result<void> begun = loader.begin_external(wanted.location, *data_bytes); !begun)
      return begun.error();
    const Result<void> filled = fill(loader, data, beside, ErrorCode::kExternalDataMissing, {});
    if (!filled) return filled.error();
  }
  return loader.finish();
}

Result<void> write_rope(const ByteRope& rope, const std::string& path) {
  const auto failure = [&path] {
    return Error{ErrorCode::kInvalidState,
                 "The file \"" + printable(path) + "\" can't be written: " + std::strerror(errno) + ".",
                 printable(path), ""};
  };
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return failure();
  for (const std::span<const std::uint8_t> piece : rope.pieces()) {
    if (std::fwrite(piece.data(), 1, piece.size(), file) == piece.size()) continue;
    const Error error = failure();
    static_cast<void>(std::fclose(file));
    return error;
  }
  return std::fclose(file) == 0 ? Result<void>{} : failure();
}

}  // namespace halftone::tools
