// Opens a model through the installed library: links the core, the ONNX library and protobuf, and checks what
// comes back.
#include <halftone/model.h>
#include <halftone/version.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace {

// One Relu from x to y, both float of two elements; opset 13.
constexpr std::array<std::uint8_t, 59> kReluModel = {
    0x08, 0x08, 0x3a, 0x33,                                                             // IR version, graph
    0x0a, 0x0c, 0x0a, 0x01, 'x', 0x12, 0x01, 'y',  0x22, 0x04, 'R',  'e',  'l',  'u',   // node
    0x12, 0x01, 'g',                                                                    // name of the graph
    0x5a, 0x0f, 0x0a, 0x01, 'x', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a,  // input
    0x02, 0x08, 0x02,                                                                   //
    0x62, 0x0f, 0x0a, 0x01, 'y', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a,  // output
    0x02, 0x08, 0x02,                                                                   //
    0x42, 0x02, 0x10, 0x0d,                                                             // opset
};

int fail(const char* what) {
  std::fprintf(stderr, "consumer: %s\n", what);
  return 1;
}

}  // namespace

int main() {
  const auto model = halftone::open_model(kReluModel);
  if (!model.ok()) return fail(model.error().message.c_str());
  if (model.value()->info().ir_version != 8) return fail("wrong IR version");
  if (model.value()->graph().nodes().size() != 1) return fail("wrong number of nodes");

  const std::array<std::uint8_t, 4> junk = {'j', 'u', 'n', 'k'};
  const auto refused = halftone::open_model(junk);
  if (refused.ok()) return fail("four random bytes were taken for a model");

  std::printf("halftone %s: %s\n", halftone::kVersion.data(), refused.error().message.c_str());
  return 0;
}
