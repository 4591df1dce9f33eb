#include "halftone/result.h"

#include <catch2/catch_all.hpp>
#include <set>
#include <string>

namespace halftone {
namespace {

TEST_CASE("printable() leaves ordinary names alone", "[base]") {
  CHECK(printable("conv2d_7.w:0") == "conv2d_7.w:0");
  CHECK(printable("größe \xE2\x82\xAC \xF0\x9F\x98\x80") == "größe \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(printable("").empty());
}

TEST_CASE("printable() replaces what could break a line or a terminal", "[base]") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(printable("a\x1B[31mb") == "a" + bad + "[31mb");
  CHECK(printable(std::string("a\0b\nc\x7F", 6)) == "a" + bad + "b" + bad + "c" + bad);
  CHECK(printable("\xC2\x9B") == bad + bad);            // C1 control
  CHECK(printable("\xE2\x80\xAE") == bad + bad + bad);  // right-to-left override
  CHECK(printable("\xC0\xAF") == bad + bad);            // overlong slash
  CHECK(printable("\xED\xA0\x80") == bad + bad + bad);  // surrogate
  CHECK(printable("\xF5\x80\x80\x80") == bad + bad + bad + bad);
  CHECK(printable("\xE2\x82") == bad + bad);  // cut off
}

TEST_CASE("printable() cuts long names between characters", "[base]") {
  CHECK(printable(std::string(200, 'x'), 10) == std::string(10, 'x') + "\xE2\x80\xA6");
  CHECK(printable("aaaa\xE2\x82\xAC", 5) == "aaaa\xE2\x80\xA6");
}

TEST_CASE("Every error code has a name of its own", "[base]") {
  std::set<std::string_view> names;
  const int last = static_cast<int>(ErrorCode::kInternal);
  for (int code = 0; code <= last; ++code) names.insert(error_code_name(static_cast<ErrorCode>(code)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK(error_code_name(ErrorCode::kNotOnnx) == "not_onnx");
}

}  // namespace
}  // namespace halftone
