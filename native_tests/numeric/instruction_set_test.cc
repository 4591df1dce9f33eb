// Which implementation is under test? A suite that only ever ran a fallback would prove nothing.
#include <catch2/catch_all.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "halftone/statistics.h"
#include "numeric/kernel_cases.h"
#include "numeric/kernel_set.h"

namespace halftone {
namespace {

std::vector<std::string> g_in_use;

TEST_CASE("Every instruction set that is tested is the one in use", "[numeric][simd]") {
  g_in_use.clear();
  const std::vector<std::string> wanted = kernel_cases::for_each_instruction_set([] {
    g_in_use.emplace_back(active_instruction_set());
    CHECK(std::string(numeric::simd_statistic_kernels().instruction_set) == g_in_use.back());
  });
  CHECK(g_in_use == wanted);
  REQUIRE_FALSE(wanted.empty());
  std::string line;
  for (const std::string& name : wanted) line += " " + name;
  std::printf("kernels tested with:%s; in use: %s\n", line.c_str(),
              std::string(active_instruction_set()).c_str());
}

TEST_CASE("The kernels in use are vector code", "[numeric][simd]") {
  const std::string name(active_instruction_set());
  INFO(name);
#if defined(__EMSCRIPTEN__)
  CHECK(name == "WASM");  // Highway's name for SIMD128
#endif
  CHECK(name != "SCALAR");
  CHECK(name != "EMU128");
  CHECK(name != "scalar");
}

}  // namespace
}  // namespace halftone
