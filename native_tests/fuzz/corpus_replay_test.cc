// The fuzzer's property on models that are known to be interesting, and on changes of them.
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "fuzz/model_reader_fuzz.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

std::vector<Bytes> corpus() {
  onnx::ModelProto external = minimal_model();
  *external.mutable_graph()->add_initializer() = external_floats("w", 400, "a.bin", 64, 1600);
  *external.mutable_graph()->add_initializer() = external_floats("v", 4, "a.bin", 1600, -1);
  onnx::ModelProto typed = minimal_model();
  *typed.mutable_graph()->add_initializer() = typed_int64s("i", 400);
  *typed.mutable_graph()->add_initializer() = typed_int32s("h", onnx::TensorProto::FLOAT16, 900);
  onnx::ModelProto empty = minimal_model();
  empty.mutable_graph()->clear_node();
  empty.mutable_graph()->mutable_output(0)->set_name("x");
  return {serialize(minimal_model()), serialize(external), serialize(typed), serialize(empty)};
}

TEST_CASE("the fuzzer's corpus holds the property", "[fuzz]") {
  for (const Bytes& file : corpus()) CHECK(read_and_write_again(file));
  CHECK_FALSE(read_and_write_again({}));
}

TEST_CASE("changed models hold the fuzzer's property", "[fuzz]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<Bytes> files = corpus();
  std::size_t opened = 0;
  // About one in twelve opens; the others test refusals, so it goes on until enough did.
  for (int round = 0; round < 400 || (opened <= 20 && round < 10000); ++round) {
    Bytes file = files[random() % files.size()];
    for (std::size_t i = 1 + random() % 4; i > 0; --i) {
      const std::size_t at = random() % file.size();
      switch (random() % 3) {
        case 0:
          file[at] = static_cast<std::uint8_t>(random());
          break;
        case 1:
          file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
          break;
        default:
          if (file.size() > 1) file.erase(file.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    if (read_and_write_again(file)) ++opened;
  }
  CHECK(opened > 20);
}

}  // namespace
}  // namespace halftone::test
