// Files that are something else: said by name where it is known.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "model/foreign_format.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

using namespace std::string_view_literals;

Bytes padded(std::string_view head) {
  Bytes file(head.begin(), head.end());
  file.resize(file.size() + 300, 'x');
  return file;
}

Error error_of(const Bytes& file) {
  const Result<ReadModel> model = read(file);
  REQUIRE_FALSE(model.ok());
  return model.error();
}

TEST_CASE("other formats are named", "[model][not_onnx]") {
  const std::pair<std::string_view, std::string_view> formats[] = {
      {"PK\x03\x04"sv, "ZIP"},
      {"\x18\0\0\0TFL3"sv, "TensorFlow Lite"},
      {"\x18\0\0\0ORTM"sv, ".ort"},
      {"\x80\x02}q"sv, "pickle"},
      {"\x89HDF\r\n\x1a\n"sv, "HDF5"},
      {"GGUF\x03\0\0\0"sv, "GGUF"},
      {"\x93NUMPY\x01"sv, "NumPy"},
      {"\x1f\x8b\x08"sv, "gzip"},
      {"version https://git-lfs.github.com/spec/v1\n"sv, "Git LFS"},
      {"<!DOCTYPE html><html>"sv, "web page"},
      {"\n\n  <HTML lang=en>"sv, "web page"},
      {"<?xml version=\"1.0\"?><net>"sv, "XML"},
      {"{\"error\": \"not found\"}"sv, "JSON"},
      {"\xef\xbb\xbf [1, 2]"sv, "JSON"},
      {"\x40\0\0\0\0\0\0\0{\"weight\":"sv, "safetensors"},
  };
  for (const auto& [head, name] : formats) {
    INFO(name);
    const Error error = error_of(padded(head));
    CHECK(error.code == ErrorCode::kNotOnnx);
    CHECK(error.message.find(name) != std::string::npos);
  }
}

TEST_CASE("what is no model and nothing known is refused, too", "[model][not_onnx]") {
  CHECK(error_of({}).code == ErrorCode::kNotOnnx);
  CHECK(error_of(Bytes(1000, 0)).code == ErrorCode::kNotOnnx);
  CHECK(error_of(Bytes(1000, 0xFF)).code == ErrorCode::kNotOnnx);
  CHECK(error_of(padded("Hello, this is a text file.\n")).code == ErrorCode::kNotOnnx);
  // A TensorFlow graph: a list of messages under field 1.
  CHECK(error_of({0x0A, 0x02, 0x12, 0x00, 0x0A, 0x02, 0x12, 0x00}).code == ErrorCode::kNotOnnx);
}

TEST_CASE("random bytes never open", "[model][not_onnx]") {
  std::mt19937 random(20'240'501);
  for (int round = 0; round < 2000; ++round) {
    Bytes file(1 + random() % 300);
    for (std::uint8_t& byte : file) byte = static_cast<std::uint8_t>(random());
    INFO("round " << round);
    CHECK_FALSE(read(file).ok());
  }
}

TEST_CASE("a model whose producer is called like another format is a model", "[model][not_onnx]") {
  for (const char* producer : {"ORTModule", "TFL3-to-ONNX"}) {
    onnx::ModelProto model = minimal_model();
    model.set_producer_name(producer);
    CHECK(read(serialize(model)).ok());
  }
}

}  // namespace
}  // namespace halftone::test
