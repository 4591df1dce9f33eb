// ModelLoader: slices, external files, and the order of calls.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "halftone/writer.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

// Fills what the loader offers, `slice` bytes at a time.
void feed(ModelLoader& loader, const Bytes& bytes, std::size_t slice) {
  std::size_t done = 0;
  while (true) {
    const std::span<std::uint8_t> part = loader.next(slice);
    if (part.empty()) break;
    REQUIRE(done + part.size() <= bytes.size());
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(done), part.size(), part.begin());
    REQUIRE(loader.commit(part.size()).ok());
    done += part.size();
  }
  REQUIRE(done == bytes.size());
}

ModelLoader loader_for(const Bytes& file) {
  Result<ModelLoader> loader = ModelLoader::create(file.size());
  REQUIRE(loader.ok());
  return std::move(loader).value();
}

Bytes model_with_external_weights() {
  onnx::ModelProto model = minimal_model();
  *model.mutable_graph()->add_initializer() = external_floats("w", 1000, "a.bin", 0, 4000);
  *model.mutable_graph()->add_initializer() = external_floats("v", 10, "b.bin", 8, 40);
  return serialize(model);
}

TEST_CASE("slices of any size give the same model", "[model][loader]") {
  onnx::ModelProto proto = minimal_model();
  *proto.mutable_graph()->add_initializer() = raw_floats("w", 3000);
  const Bytes file = serialize(proto);
  for (const std::size_t slice :
       {std::size_t{1}, std::size_t{7}, std::size_t{4096}, file.size(), file.size() + 1}) {
    ModelLoader loader = loader_for(file);
    feed(loader, file, slice);
    const auto external = loader.parse();
    REQUIRE(external.ok());
    CHECK(external.value().empty());
    const auto model = loader.finish();
    REQUIRE(model.ok());
    CHECK(model.value()->info().file_bytes == file.size());
    const Result<WrittenModel> written = write_model(model.value(), {});
    REQUIRE(written.ok());
    CHECK(written.value().model.flatten() == file);
  }
}

TEST_CASE("external files are asked for, filled and counted", "[model][loader]") {
  const Bytes file = model_with_external_weights();
  const Bytes a = pattern(4000, 1);
  const Bytes b = pattern(48, 2);
  ModelLoader loader = loader_for(file);
  feed(loader, file, 100);
  const auto external = loader.parse();
  REQUIRE(external.ok());
  REQUIRE(external.value().size() == 2);
  CHECK(external.value()[0].location == "a.bin");
  CHECK(external.value()[1].min_bytes == 48);
  REQUIRE(loader.begin_external("./b.bin", b.size()).ok());  // in any order, by any spelling
  feed(loader, b, 5);
  REQUIRE(loader.begin_external("a.bin", a.size()).ok());
  feed(loader, a, 999);
  const auto model = loader.finish();
  REQUIRE(model.ok());
  CHECK(model.value()->info().file_bytes == file.size() + a.size() + b.size());
  const std::vector<StoreBuffer> buffers = model.value()->buffers();
  REQUIRE(buffers.size() == 3);
  CHECK(buffers[0].path == "model");
  CHECK(buffers[1].path == "b.bin");
  CHECK(Bytes(buffers[2].bytes.begin(), buffers[2].bytes.end()) == a);
}

TEST_CASE("external files that are missing, short or not asked for", "[model][loader]") {
  const Bytes file = model_with_external_weights();
  ModelLoader loader = loader_for(file);
  feed(loader, file, file.size());
  REQUIRE(loader.parse().ok());
  SECTION("missing") {
    const auto model = loader.finish();
    REQUIRE_FALSE(model.ok());
    CHECK(model.error().code == ErrorCode::kExternalDataMissing);
    CHECK(model.error().where == "a.bin");
  }
  SECTION("short") {
    const auto begun = loader.begin_external("a.bin", 3999);
    REQUIRE_FALSE(begun.ok());
    CHECK(begun.error().code == ErrorCode::kExternalDataMissing);
    CHECK(begun.error().message.find("3999") != std::string::npos);
  }
  SECTION("not asked for") {
    CHECK(loader.begin_external("c.bin", 10).error().code == ErrorCode::kExternalDataMissing);
    CHECK(loader.begin_external("../a.bin", 4000).error().code == ErrorCode::kExternalDataMissing);
  }
  SECTION("not filled") {
    REQUIRE(loader.begin_external("a.bin", 4000).ok());
    static_cast<void>(loader.next(10));
    REQUIRE(loader.commit(10).ok());
    CHECK(loader.begin_external("b.bin", 48).error().code == ErrorCode::kInvalidState);
    CHECK(loader.finish().error().code == ErrorCode::kExternalDataMissing);
  }
  SECTION("given twice") {
    REQUIRE(loader.begin_external("a.bin", 4000).ok());
    feed(loader, Bytes(4000), 4000);
    CHECK(loader.begin_external("a.bin", 4000).error().code == ErrorCode::kInvalidState);
  }
}

TEST_CASE("calls in the wrong order are refused", "[model][loader]") {
  const Bytes file = serialize(minimal_model());
  CHECK(ModelLoader::create(0).error().code == ErrorCode::kNotOnnx);
  CHECK(ModelLoader::create(UINT64_MAX).error().code == ErrorCode::kOutOfMemory);
  ModelLoader loader = loader_for(file);
  CHECK(loader.finish().error().code == ErrorCode::kInvalidState);
  CHECK(loader.begin_external("a.bin", 1).error().code == ErrorCode::kInvalidState);
  CHECK(loader.parse().error().code == ErrorCode::kInvalidState);
  CHECK(loader.commit(1).error().code == ErrorCode::kInvalidState);
  CHECK(loader.next(3).size() == 3);
  CHECK(loader.commit(4).error().code == ErrorCode::kInvalidState);
  CHECK(loader.commit(2).ok());
  CHECK(loader.commit(1).error().code == ErrorCode::kInvalidState);
  CHECK(loader.next(UINT64_MAX).size() == file.size() - 2);
}

TEST_CASE("an output's data file needs a plain name", "[model][loader]") {
  const auto model = open_model(serialize(minimal_model()));
  REQUIRE(model.ok());
  for (const char* name : {"", "..", "a/b", "/a", "a\\b", "C:a"}) {
    const Result<WrittenModel> written = write_model(model.value(), {WeightPlacement::kExternalFile, name});
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().code == ErrorCode::kInvalidPolicy);
  }
}

}  // namespace
}  // namespace halftone::test
