// External data: several files, offsets and lengths, and locations that try to leave the model's folder.
#include <catch2/catch_test_macros.hpp>

#include "model/external_location.h"
#include "model/stored_tensor.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

Bytes model_of(const std::vector<onnx::TensorProto>& tensors) {
  onnx::ModelProto model = minimal_model();
  for (const onnx::TensorProto& tensor : tensors) *model.mutable_graph()->add_initializer() = tensor;
  return serialize(model);
}

ReadModel read_or_fail(const Bytes& file, const std::map<std::string, Bytes>& external = {}) {
  Result<ReadModel> model = read(file, external);
  if (!model) FAIL(model.error().message);
  return std::move(model).value();
}

Bytes tensor_bytes(const ReadModel& model, int initializer) {
  const auto where = stored_tensor(model.skeleton.graph().initializer(initializer));
  REQUIRE(where);
  CHECK(where->field == TensorField::kExternal);
  const auto bytes = stored_bytes(*model.store, *where);
  REQUIRE(bytes.size() == where->length);
  return {bytes.begin(), bytes.end()};
}

Bytes slice(const Bytes& bytes, std::size_t offset, std::size_t length) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

TEST_CASE("tensors of several external files are found where the model says", "[model][external]") {
  const Bytes a = pattern(10'000, 3);
  const Bytes b = pattern(500, 4);
  const ReadModel model = read_or_fail(model_of({external_floats("first", 1000, "a.bin", 4096, 4000),
                                                 external_floats("no_offset", 100, "sub/b.bin", -1, 400),
                                                 external_floats("no_length", 100, "sub/b.bin", 100, -1),
                                                 external_floats("overlaps", 200, "a.bin", 4100, 800),
                                                 external_floats("nothing", 0, "a.bin", 0, 0)}),
                                       {{"a.bin", a}, {"sub/b.bin", b}});
  REQUIRE(model.external_files.size() == 2);
  CHECK(model.external_files[0].location == "a.bin");
  CHECK(model.external_files[0].min_bytes == 8096);
  CHECK(model.external_files[1].location == "sub/b.bin");
  CHECK(model.external_files[1].min_bytes == 500);
  CHECK(tensor_bytes(model, 0) == slice(a, 4096, 4000));
  CHECK(tensor_bytes(model, 1) == slice(b, 0, 400));
  CHECK(tensor_bytes(model, 2) == slice(b, 100, 400));
  CHECK(tensor_bytes(model, 3) == slice(a, 4100, 800));
  CHECK(tensor_bytes(model, 4).empty());
}

TEST_CASE("external data comes inside as raw_data", "[model][external]") {
  const Bytes a = pattern(5000, 3);
  const ReadModel model =
      read_or_fail(model_of({external_floats("w", 1000, "a.bin", 16, 4000)}), {{"a.bin", a}});
  const Result<WrittenModel> written = write(model);
  REQUIRE(written.ok());
  onnx::ModelProto parsed;
  const Bytes file = written.value().model.flatten();
  REQUIRE(parsed.ParseFromArray(file.data(), static_cast<int>(file.size())));
  const onnx::TensorProto& tensor = parsed.graph().initializer(0);
  CHECK(tensor.external_data_size() == 0);
  CHECK_FALSE(tensor.has_data_location());
  CHECK(Bytes(tensor.raw_data().begin(), tensor.raw_data().end()) == slice(a, 16, 4000));
}

TEST_CASE("tensors that share bytes share them in a new data file", "[model][external]") {
  const ReadModel model = read_or_fail(
      model_of({external_floats("w", 1000, "a.bin", 0, 4000), external_floats("tied", 1000, "a.bin", 0, 4000),
                external_floats("other", 1000, "a.bin", 4, 4000)}),
      {{"a.bin", pattern(5000, 3)}});
  const Result<WrittenModel> written = write(model, {WeightPlacement::kExternalFile, "new.bin"});
  REQUIRE(written.ok());
  CHECK(written.value().external_data.size() == 4032 + 4000);  // 4000 rounded up to 64, and the other one
  const ReadModel again =
      read_or_fail(written.value().model.flatten(), {{"new.bin", written.value().external_data.flatten()}});
  for (int i = 0; i < 3; ++i) CHECK(tensor_bytes(again, i) == tensor_bytes(model, i));
}

TEST_CASE("an external file may have a name that the store uses itself", "[model][external]") {
  const Bytes a = pattern(4000, 3);
  const Bytes b = pattern(4000, 4);
  ReadModel model = read_or_fail(model_of({external_floats("w", 1000, "model", 0, 4000),
                                           external_floats("v", 1000, "./new//0", 0, 4000)}),
                                 {{"model", a}, {"new/0", b}});
  CHECK(model.store->add_new(pattern(8, 5)) == "new/0");
  CHECK(tensor_bytes(model, 0) == a);
  CHECK(tensor_bytes(model, 1) == b);
}

TEST_CASE("more than 2 GiB doesn't fit into one file", "[model][external]") {
  // The same megabytes many times: nothing is copied, so nothing is large but the sum.
  constexpr std::int64_t kFloats = 4'000'000;
  std::vector<onnx::TensorProto> tensors;
  for (int i = 0; i < 140; ++i)
    tensors.push_back(external_floats("w" + std::to_string(i), kFloats, "a.bin", 0, 4 * kFloats));
  const ReadModel model = read_or_fail(model_of(tensors), {{"a.bin", Bytes(4 * kFloats)}});
  const Result<WrittenModel> inside = write(model);
  REQUIRE_FALSE(inside.ok());
  CHECK(inside.error().code == ErrorCode::kTooLarge);
  const Result<WrittenModel> outside = write(model, {WeightPlacement::kExternalFile, "new.bin"});
  REQUIRE(outside.ok());
  CHECK(outside.value().external_data.size() == 4 * kFloats);
}

TEST_CASE("locations outside the model's folder are refused", "[model][external]") {
  for (const std::string& location :
       {std::string("/etc/passwd"), std::string("../w.bin"), std::string("a/../../w.bin"),
        std::string("a/.."), std::string("..\\w.bin"), std::string("a\\w.bin"), std::string("C:w.bin"),
        std::string("c:/w.bin"), std::string("\\\\server\\share"), std::string("w\0.bin", 6), std::string(),
        std::string("."), std::string("./")}) {
    INFO(printable(location));
    const Result<ReadModel> model = read(model_of({external_floats("w", 4, location, 0, 16)}));
    REQUIRE_FALSE(model.ok());
    CHECK(model.error().code == ErrorCode::kExternalDataMissing);
  }
  CHECK(normal_location("./a//b/./c.bin").value() == "a/b/c.bin");
  CHECK(normal_location("..a/b..").value() == "..a/b..");
}

TEST_CASE("offsets and lengths that make no sense are refused", "[model][external]") {
  const auto with = [](const std::string& offset, const std::string& length) {
    onnx::TensorProto tensor = external_floats("w", 4, "a.bin", 0, 16);
    tensor.mutable_external_data(1)->set_value(offset);
    tensor.mutable_external_data(2)->set_value(length);
    return read(model_of({tensor}));
  };
  CHECK(with("0", "16").ok());
  for (const auto& [offset, length] :
       {std::pair{"-1", "16"}, std::pair{"0x10", "16"}, std::pair{"", "16"},
        std::pair{"99999999999999999999", "16"}, std::pair{"18446744073709551610", "16"},
        std::pair{"0", "15"}, std::pair{"0", "17"}, std::pair{"0", "16 "}, std::pair{"0", "-16"}}) {
    INFO(offset << " " << length);
    const Result<ReadModel> model = with(offset, length);
    REQUIRE_FALSE(model.ok());
    CHECK(model.error().code == ErrorCode::kInvalidGraph);
    CHECK(model.error().where == "w");
  }
}

TEST_CASE("external strings, and tensors without a location, are refused", "[model][external]") {
  onnx::TensorProto text = external_floats("w", 4, "a.bin", 0, 16);
  text.set_data_type(onnx::TensorProto::STRING);
  CHECK(read(model_of({text})).error().code == ErrorCode::kInvalidGraph);
  onnx::TensorProto nowhere = external_floats("w", 4, "a.bin", 0, 16);
  nowhere.mutable_external_data()->DeleteSubrange(0, 1);
  CHECK(read(model_of({nowhere})).error().code == ErrorCode::kInvalidGraph);
  onnx::TensorProto unknown_type = external_floats("w", 4, "a.bin", 0, -1);
  unknown_type.set_data_type(77);
  CHECK(read(model_of({unknown_type})).error().code == ErrorCode::kInvalidGraph);
}

}  // namespace
}  // namespace halftone::test
