// Speed of the numeric kernels relative to memcpy. The judged figures: quantize and min-max of 64 MiB of
// float32, int8 and uint8, per tensor and per axis, best of 7 runs, each run directly after a memcpy of the
// same 64 MiB, so that both see the same machine. ratio = best memcpy time / best kernel time; at least 0.70
// is required. Smaller sizes are for information.
//
//   halftone_bench_numeric_bench [--json] [--only TEXT]
//     --json   one object a line, as the project's benches print
//     --only   figures whose name contains TEXT, such as "64 MiB"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/quant_grid.h"
#include "halftone/statistics.h"

namespace halftone {
namespace {

constexpr int kRuns = 7;
constexpr double kRequired = 0.70;
constexpr std::size_t kJudgedBytes = std::size_t{64} << 20U;

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What is kept of a result, so that no compiler can leave the work out.
volatile float g_sink = 0.0F;

struct Buffers {
  std::vector<float> x;
  std::vector<float> copy;
  std::vector<float> y;
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
};

Buffers make_buffers(std::size_t count) {
  Buffers b;
  b.x.resize(count);
  std::uint32_t state = 1;
  for (float& value : b.x) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(state)) * (8.0F / 2147483648.0F);
  }
  b.copy.resize(count);
  b.y.resize(count);
  b.codes.resize(count * 2);
  b.scales.resize(count, 0.05F);
  b.zero_points.resize(count, 3);
  return b;
}

struct Figure {
  std::string name;
  bool judged;
  std::function<void()> work;
};

struct Measured {
  double copy = 1e30;
  double work = 1e30;
};

Measured measure(Buffers& b, const Figure& figure) {
  const std::size_t bytes = b.x.size() * sizeof(float);
  // Small buffers are run often enough per timing that the clock's resolution doesn't matter.
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{4} << 20U) / bytes);
  Measured best;
  figure.work();
  for (int run = 0; run < kRuns; ++run) {
    best.copy = std::min(best.copy, seconds([&] {
                           for (std::size_t i = 0; i < repeats; ++i) {
                             std::memcpy(b.copy.data(), b.x.data(), bytes);
                             g_sink = b.copy[i % b.copy.size()];
                           }
                         }));
    best.work = std::min(best.work, seconds([&] {
                           for (std::size_t i = 0; i < repeats; ++i) figure.work();
                         }));
  }
  best.copy /= static_cast<double>(repeats);
  best.work /= static_cast<double>(repeats);
  return best;
}

QuantGrid grid_of(const Buffers& b, NumberFormat format, const GridLayout& layout) {
  const std::size_t scales = layout.scale_count();
  return {format, layout, std::span(b.scales).first(scales), std::span(b.zero_points).first(scales)};
}

// A layout with its name: how 64 MiB of weights are cut.
struct Cut {
  const char* name;
  GridLayout layout;
};

std::vector<Cut> cuts(std::size_t count) {
  return {{"per tensor", GridLayout::per_tensor(count)},
          {"axis 0 of [c, 4096]", {1, count / 4096, 4096, 0}},
          {"last axis of [n, 1024]", {count / 1024, 1024, 1, 0}},
          {"axis 1 of [n, 64, 9]", {count / 576, 64, 9, 0}}};
}

std::vector<Figure> figures(Buffers& b, std::size_t count) {
  std::vector<Figure> out;
  for (const NumberFormat format :
       {NumberFormat::kInt8, NumberFormat::kUint8, NumberFormat::kInt16, NumberFormat::kInt4}) {
    const bool judged = format == NumberFormat::kInt8 || format == NumberFormat::kUint8;
    for (const Cut& cut : cuts(count)) {
      const std::string name = std::string(number_format_info(format).name) + " " + cut.name;
      const std::size_t used = cut.layout.element_count();
      const QuantGrid grid = grid_of(b, format, cut.layout);
      const auto bytes = static_cast<std::size_t>(code_byte_count(format, used).value_or(0));
      out.push_back(
          {"quantize " + name, judged, [&b, grid, used, bytes] {
             const bool ok =
                 quantize(FloatView(std::span(b.x).first(used)), grid, std::span(b.codes).first(bytes)).ok();
             g_sink = ok ? static_cast<float>(b.codes[0]) : -1.0F;
           }});
      if (!judged) continue;
      out.push_back({"fake_quantize " + name, false, [&b, grid, used] {
                       const bool ok = fake_quantize(FloatView(std::span(b.x).first(used)), grid,
                                                     MutableFloatView(std::span(b.y).first(used)))
                                           .ok();
                       g_sink = ok ? b.y[0] : -1.0F;
                     }});
      out.push_back({"dequantize " + name, false, [&b, grid, used, bytes] {
                       const bool ok = dequantize(std::span(b.codes).first(bytes), grid,
                                                  MutableFloatView(std::span(b.y).first(used)))
                                           .ok();
                       g_sink = ok ? b.y[0] : -1.0F;
                     }});
    }
  }
  for (const Cut& cut : cuts(count)) {
    const GridLayout layout = cut.layout;
    out.push_back({std::string("min-max ") + cut.name, true, [&b, layout] {
                     const auto ranges =
                         channel_ranges(FloatView(std::span(b.x).first(layout.element_count())), layout);
                     g_sink = ranges.ok() ? ranges.value()[0].max : -1.0F;
                   }});
  }
  out.push_back({"error sums", false, [&b] {
                   const auto sums = error_sums(FloatView(b.x), FloatView(b.copy));
                   g_sink = sums.ok() ? static_cast<float>(sums.value().error_squares) : -1.0F;
                 }});
  return out;
}

void print(const std::string& name, double gigabytes, double ratio, bool judged, bool json) {
  if (json) {
    std::printf(
        "{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"GB/s\", \"ratio_to\": \"memcpy\", \"ratio\": "
        "%.3f}\n",
        name.c_str(), gigabytes, ratio);
    return;
  }
  const char* verdict = !judged ? "" : ratio >= kRequired ? "  ok" : "  BELOW 0.70";
  std::printf("%6.3f  %7.2f GB/s  %s%s\n", ratio, gigabytes, name.c_str(), verdict);
}

void run_size(std::size_t bytes, bool json, std::string_view only) {
  Buffers b = make_buffers(bytes / sizeof(float));
  const std::string size =
      bytes >= (1U << 20U) ? std::to_string(bytes >> 20U) + " MiB" : std::to_string(bytes >> 10U) + " KiB";
  for (const Figure& figure : figures(b, b.x.size())) {
    const std::string name = figure.name + ", " + size;
    if (name.find(only) == std::string::npos) continue;
    const bool judged = figure.judged && bytes == kJudgedBytes;
    const Measured best = measure(b, figure);
    const double ratio = best.copy / best.work;
    print(name, static_cast<double>(bytes) / best.work / 1e9, ratio, judged, json);
  }
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  bool json = false;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--only TEXT]\n", argv[0]);
      return 2;
    }
  }
  if (!json) {
    std::printf("kernels: %s; speed relative to memcpy of the same float32 bytes, best of %d\n",
                std::string(halftone::active_instruction_set()).c_str(), halftone::kRuns);
  }
  for (const std::size_t bytes :
       {halftone::kJudgedBytes, std::size_t{4} << 20U, std::size_t{256} << 10U, std::size_t{16} << 10U}) {
    halftone::run_size(bytes, json, only);
  }
  return 0;
}
