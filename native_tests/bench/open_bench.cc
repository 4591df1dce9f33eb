// Opening a large model against copying its bytes once: time (best of five, file in the page cache) and peak
// memory.
//
//   halftone_bench_open_bench [--json] [--bytes N] [--folder DIR]
//
// Makes its own model of N bytes (1 GB): a chain of MatMul over weights of 4 MiB. One memcpy into fresh
// memory is the yardstick, since any way to have the file in memory costs at least that.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/model_file.h"
#include "model/wire.h"

namespace halftone::tools {
namespace {

constexpr int kRounds = 5;
constexpr std::uint64_t kWidth = 1024;
constexpr std::uint64_t kTensorBytes = kWidth * kWidth * sizeof(float);

struct Options {
  bool json = false;
  std::uint64_t bytes = 1'000'000'000;
  std::string folder = "/tmp";
};

std::string value_info(std::string_view name) {
  std::string shape;
  for (const std::uint64_t extent : {std::uint64_t{1}, kWidth}) {
    std::string dim;
    append_tag(dim, 1, WireType::kVarint);
    append_varint(dim, extent);
    append_text_field(shape, 1, dim);
  }
  std::string tensor;
  append_tag(tensor, 1, WireType::kVarint);
  append_varint(tensor, 1);  // float
  append_text_field(tensor, 2, shape);
  std::string type;
  append_text_field(type, 1, tensor);
  std::string info;
  append_text_field(info, 1, name);
  append_text_field(info, 2, type);
  return info;
}

std::string matmul(std::uint64_t index) {
  std::string node;
  append_text_field(node, 1, "t" + std::to_string(index));
  append_text_field(node, 1, "w" + std::to_string(index));
  append_text_field(node, 2, "t" + std::to_string(index + 1));
  append_text_field(node, 4, "MatMul");
  return node;
}

// An initializer up to its data, with the field's own tag and length.
std::string weight_head(std::uint64_t index) {
  std::string head;
  for (int i = 0; i < 2; ++i) {
    append_tag(head, 1, WireType::kVarint);
    append_varint(head, kWidth);
  }
  append_tag(head, 2, WireType::kVarint);
  append_varint(head, 1);  // float
  append_text_field(head, 8, "w" + std::to_string(index));
  append_tag(head, 9, WireType::kLength);
  append_varint(head, kTensorBytes);
  std::string field;
  append_tag(field, 5, WireType::kLength);
  append_varint(field, head.size() + kTensorBytes);
  return field + head;
}

// Weights that differ from tensor to tensor, so that no layer below can share their pages.
void fill_weights(std::vector<float>& weights, std::uint64_t index) {
  std::uint32_t state = static_cast<std::uint32_t>(index) * 2'654'435'761U + 1;
  for (float& weight : weights) {
    state = state * 1'664'525U + 1'013'904'223U;
    weight = static_cast<float>(state >> 8U) * 0x1p-24F - 0.5F;
  }
}

class ModelMaker {
 public:
  explicit ModelMaker(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  ~ModelMaker() {
    if (file_ != nullptr) static_cast<void>(std::fclose(file_));
  }
  ModelMaker(const ModelMaker&) = delete;
  ModelMaker& operator=(const ModelMaker&) = delete;

  bool make(std::uint64_t tensors) {
    if (file_ == nullptr) return false;
    std::string structure;
    for (std::uint64_t i = 0; i < tensors; ++i) append_text_field(structure, 1, matmul(i));
    append_text_field(structure, 2, "chain");
    append_text_field(structure, 11, value_info("t0"));
    append_text_field(structure, 12, value_info("t" + std::to_string(tensors)));
    std::uint64_t graph_bytes = structure.size();
    for (std::uint64_t i = 0; i < tensors; ++i) graph_bytes += weight_head(i).size() + kTensorBytes;

    std::string head;
    append_tag(head, 1, WireType::kVarint);
    append_varint(head, 8);
    append_text_field(head, 8, std::string("\x10\x11", 2));  // version 17 of the default operator set
    append_tag(head, 7, WireType::kLength);
    append_varint(head, graph_bytes);
    bool written = put(head.data(), head.size()) && put(structure.data(), structure.size());
    std::vector<float> weights(kWidth * kWidth);
    for (std::uint64_t i = 0; i < tensors && written; ++i) {
      const std::string tensor = weight_head(i);
      fill_weights(weights, i);
      written = put(tensor.data(), tensor.size()) && put(weights.data(), kTensorBytes);
    }
    return written && std::fflush(file_) == 0;
  }

 private:
  bool put(const void* bytes, std::size_t count) { return std::fwrite(bytes, 1, count, file_) == count; }

  std::FILE* file_;
};

// A line of /proc/self/status in bytes; nullopt where there is none.
std::optional<std::uint64_t> memory_figure(std::string_view key) {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return std::nullopt;
  std::optional<std::uint64_t> bytes;
  char line[256];
  while (std::fgets(line, sizeof(line), status) != nullptr) {
    const std::string_view text(line);
    if (!text.starts_with(key)) continue;
    const std::size_t digits = text.find_first_of("0123456789");
    std::uint64_t kilobytes = 0;
    if (digits != std::string_view::npos) std::from_chars(line + digits, line + sizeof(line), kilobytes);
    bytes = kilobytes * 1024;
  }
  static_cast<void>(std::fclose(status));
  return bytes;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print_line(const Options& options, const char* name, double value, const char* unit,
                const char* ratio_to, double ratio) {
  if (options.json) {
    std::printf(R"({"name":"%s","value":%.6g,"unit":"%s","ratio_to":"%s","ratio":%.4f})"
                "\n",
                name, value, unit, ratio_to, ratio);
  } else {
    std::printf("%.3f x %-12s %s: %.6g %s\n", ratio, ratio_to, name, value, unit);
  }
}

int fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

// Reads the file as a plain block of memory, for the yardstick's source.
bool read_whole(const std::string& path, std::uint8_t* bytes, std::size_t count) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const bool read = std::fread(bytes, 1, count, file) == count;
  return std::fclose(file) == 0 && read;
}

int measure(const Options& options, const std::string& path) {
  // Memory first, while this process is still small.
  const std::optional<std::uint64_t> before = memory_figure("VmRSS");
  std::uint64_t file_bytes = 0;
  {
    const auto model = open_model_file(path);
    if (!model) return fail(model.error().message);
    file_bytes = model.value()->info().file_bytes;
  }
  const std::optional<std::uint64_t> peak = memory_figure("VmHWM");

  const std::size_t count = static_cast<std::size_t>(file_bytes);
  const std::unique_ptr<std::uint8_t[]> source(new std::uint8_t[count]);
  if (!read_whole(path, source.get(), count)) return fail("The benchmark's model can't be read back.");
  double copy_seconds = std::numeric_limits<double>::infinity();
  double open_seconds = copy_seconds;
  bool opened = true;
  for (int round = 0; round < kRounds; ++round) {
    std::unique_ptr<std::uint8_t[]> fresh;
    copy_seconds = std::min(
        copy_seconds, seconds_of([&] {
          fresh.reset(new std::uint8_t[count]);  // not initialised: the copy is what touches it first
          std::memcpy(fresh.get(), source.get(), count);
        }));
    opened = opened && std::equal(fresh.get(), fresh.get() + 64,
                                  source.get());  // keeps the copy from being optimised away
    fresh.reset();
    std::shared_ptr<const Model> model;
    open_seconds = std::min(open_seconds, seconds_of([&] {
                              auto result = open_model_file(path);
                              if (result) model = result.value();
                            }));
    opened = opened && model != nullptr;
  }
  if (!opened) return fail("The benchmark's model couldn't be opened again.");
  print_line(options, "open", open_seconds, "s", "memcpy", open_seconds / copy_seconds);
  if (before && peak && *peak > *before) {
    const auto growth = static_cast<double>(*peak - *before);
    print_line(options, "open_peak_memory", growth, "bytes", "file",
               growth / static_cast<double>(file_bytes));
  }
  return 0;
}

bool parse_arguments(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--folder" && i + 1 < argc) {
      options.folder = argv[++i];
    } else if (argument == "--bytes" && i + 1 < argc) {
      const std::string_view value = argv[++i];
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.bytes);
      if (error != std::errc{} || end != value.data() + value.size()) return false;
    } else {
      return false;
    }
  }
  return true;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse_arguments(argc, argv, options)) {
    static_cast<void>(fail("usage: open_bench [--json] [--bytes N] [--folder DIR]"));
    return 2;
  }
  const std::string path = options.folder + "/halftone_open_bench_" + std::to_string(::getpid()) + ".onnx";
  const std::uint64_t tensors = std::max<std::uint64_t>(1, options.bytes / kTensorBytes);
  const bool made = ModelMaker(path).make(tensors);
  const int status =
      made ? measure(options, path) : fail("The benchmark's model can't be written to " + path + ".");
  static_cast<void>(std::remove(path.c_str()));
  return status;
}

}  // namespace
}  // namespace halftone::tools

int main(int argc, char** argv) { return halftone::tools::run(argc, argv); }
