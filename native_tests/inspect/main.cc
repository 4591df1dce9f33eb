// halftone-inspect: what a model is, as JSON; and the same model written again. For hostile files and large
// models, without JavaScript in the way. Exit status: 0, 1 (bad input; one sentence on stderr) or 2 (usage).
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "halftone/exchange.h"
#include "halftone/model.h"
#include "halftone/writer.h"
#include "inspect/model_file.h"
#include "inspect/sha256.h"

namespace halftone::tools {
namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;

constexpr std::string_view kUsage =
    "usage: halftone-inspect MODEL [-o OUT.json] [--write OUT.onnx [--external]] [--json]\n"
    "  -o OUT.json        write the summary there instead of to standard output\n"
    "  --write OUT.onnx   write the model again, unchanged\n"
    "  --external         put its weights into OUT.onnx.data\n"
    "  --json             say on standard error as JSON why a model is refused\n";

struct Options {
  std::string model;
  std::string json;
  std::string written;
  bool external = false;
  bool json_errors = false;
  bool help = false;
};

// False if the arguments make no sense.
bool parse_arguments(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string* value = argument == "-o"        ? &options.json
                         : argument == "--write" ? &options.written
                                                 : nullptr;
    if (value != nullptr) {
      if (++i == argc || !value->empty()) return false;
      *value = argv[i];
    } else if (argument == "--external") {
      options.external = true;
    } else if (argument == "--json") {
      options.json_errors = true;
    } else if (argument == "--help") {
      options.help = true;
    } else if (argument.starts_with('-') || !options.model.empty()) {
      return false;
    } else {
      options.model = argument;
    }
  }
  return options.help || (!options.model.empty() && (!options.external || !options.written.empty()));
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<void> write_again(const std::shared_ptr<const Model>& model, const Options& options) {
  WriteOptions how;
  if (options.external) how = {WeightPlacement::kExternalFile, file_name(options.written) + ".data"};
  const Result<WrittenModel> written = write_model(model, how);
  if (!written) return written.error();
  if (Result<void> done = write_rope(written.value().model, options.written); !done) return done;
  return options.external ? write_rope(written.value().external_data, options.written + ".data")
                          : Result<void>{};
}

Result<void> write_summary(const std::string& json, const std::string& path) {
  if (path.empty()) {
    const bool printed =
        std::fwrite(json.data(), 1, json.size(), stdout) == json.size() && std::fputc('\n', stdout) != EOF;
    if (printed && std::fflush(stdout) == 0) return {};
    return Error{ErrorCode::kInvalidState, "The summary can't be written to standard output.", "", ""};
  }
  ByteRope rope;
  rope.append_owned({json.begin(), json.end()});
  rope.append_owned({'\n'});
  return write_rope(rope, path);
}

Result<void> inspect(const Options& options) {
  Sha256 hash;
  const Result<std::shared_ptr<const Model>> model =
      open_model_file(options.model, [&hash](std::span<const std::uint8_t> slice) { hash.update(slice); });
  if (!model) return model.error();
  if (!options.written.empty()) {
    if (Result<void> written = write_again(model.value(), options); !written) return written;
  }
  const FileFacts facts{file_name(options.model), hash.finish()};
  std::string json = inspect_to_json(*model.value(), facts);
  while (json.ends_with('\n')) json.pop_back();
  return write_summary(json, options.json);
}

std::string error_json(const Error& error) {
  nlohmann::ordered_json json;
  json["error"] = {{"code", error_code_name(error.code)},
                   {"message", error.message},
                   {"where", error.where},
                   {"next", error.next}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

int run(int argc, char** argv) {
  Options options;
  if (!parse_arguments(argc, argv, options)) {
    static_cast<void>(std::fwrite(kUsage.data(), 1, kUsage.size(), stderr));
    return kBadUsage;
  }
  if (options.help) {
    static_cast<void>(std::fwrite(kUsage.data(), 1, kUsage.size(), stdout));
    return 0;
  }
  const Result<void> done = inspect(options);
  if (done) return 0;
  const std::string text = options.json_errors ? error_json(done.error()) : done.error().message;
  static_cast<void>(std::fprintf(stderr, "%s\n", text.c_str()));
  return kBadInput;
}

}  // namespace
}  // namespace halftone::tools

int main(int argc, char** argv) { return halftone::tools::run(argc, argv); }
