// libFuzzer target: any bytes as a model. What opens must be writable, and what is written must open again as
// the same bytes. The ordinary tests replay a small corpus through it (fuzz/corpus_replay_test.cc).
#include "fuzz/model_reader_fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "halftone/model.h"
#include "halftone/writer.h"

namespace halftone::test {
namespace {

constexpr std::uint64_t kMaxExternalBytes = 1U << 20U;

[[noreturn]] void broken(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.message.c_str());
  std::abort();
}

void fill(ModelLoader& loader) {
  while (true) {
    const std::span<std::uint8_t> part = loader.next(1000);
    if (part.empty()) return;
    std::fill(part.begin(), part.end(), std::uint8_t{0x3F});
    if (const Result<void> committed = loader.commit(part.size()); !committed)
      broken("commit", committed.error());
  }
}

// As open_model(), but with external files made up as they are asked for.
Result<std::shared_ptr<const Model>> open(std::span<const std::uint8_t> bytes) {
  Result<ModelLoader> created = ModelLoader::create(bytes.size());
  if (!created) return created.error();
  ModelLoader& loader = created.value();
  const std::span<std::uint8_t> place = loader.next(bytes.size());
  std::copy(bytes.begin(), bytes.end(), place.begin());
  if (const Result<void> committed = loader.commit(bytes.size()); !committed) return committed.error();
  const Result<std::vector<ExternalFile>> external = loader.parse();
  if (!external) return external.error();
  for (const ExternalFile& file : external.value()) {
    if (file.min_bytes > kMaxExternalBytes) return loader.finish();  // an error: the file is missing
    if (const Result<void> begun = loader.begin_external(file.location, file.min_bytes); !begun)
      return begun.error();
    fill(loader);
  }
  return loader.finish();
}

std::vector<std::uint8_t> written_bytes(const std::shared_ptr<const Model>& model) {
  const Result<WrittenModel> written = write_model(model, {});
  if (written) return written.value().model.flatten();
  if (written.error().code == ErrorCode::kTooLarge) return {};
  broken("write", written.error());
}

}  // namespace

bool read_and_write_again(std::span<const std::uint8_t> bytes) {
  const Result<std::shared_ptr<const Model>> model = open(bytes);
  if (!model) {
    if (model.error().message.empty()) broken("an error without a message", model.error());
    return false;
  }
  const std::vector<std::uint8_t> first = written_bytes(model.value());
  if (first.empty()) return true;
  const Result<std::shared_ptr<const Model>> again = open(first);
  if (!again) broken("opening what was written", again.error());
  if (written_bytes(again.value()) != first) broken("writing twice gave different bytes", {});
  for (const WeightPlacement placement :
       {WeightPlacement::kExternalFile, WeightPlacement::kStoreReferences}) {
    const Result<WrittenModel> written = write_model(model.value(), {placement, "weights.bin"});
    // Lists of integers are decoded only here, so a damaged one shows here.
    if (!written && written.error().code != ErrorCode::kInvalidGraph)
      broken("write outside", written.error());
  }
  return true;
}

}  // namespace halftone::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halftone::test::read_and_write_again({data, size});
  return 0;
}
