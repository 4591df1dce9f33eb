#include "conversions.h"

#include <cmath>
#include <utility>

#include "halftone/writer.h"

namespace halftone::wasm {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53
constexpr std::string_view kMadeHere = "new/";        // paths of buffers that are in no file, see StoreBuffer

val utf8(std::string_view text) { return val(std::string(text)); }

Error bad_argument(std::string message) {
  return Error{ErrorCode::kInvalidState, std::move(message), "", ""};
}

Result<std::optional<NumberFormat>> format_option(const val& options, const char* key) {
  const val given = options[key];
  if (given.isUndefined() || given.isNull()) return std::optional<NumberFormat>();
  const std::string name = given.as<std::string>();
  const std::optional<NumberFormat> format = number_format_from_name(name);
  if (!format) {
    return Error{ErrorCode::kInvalidPolicy, "There is no number format \"" + printable(name) + "\".", key,
                 "Use one of int8, uint8, int16, uint16, int4, uint4, float8e4m3fn."};
  }
  return format;
}

bool bool_option(const val& options, const char* key, bool otherwise) {
  const val given = options[key];
  return given.isTrue() || (!given.isFalse() && otherwise);
}

std::vector<std::string> list_option(const val& options, const char* key) {
  const val given = options[key];
  if (given.isUndefined() || given.isNull()) return {};
  return strings_from_js(given);
}

Result<PlanOptions> with_target_options(const val& options, PlanOptions parsed) {
  const val match = options["match"];
  if (!match.isUndefined() && !match.isNull()) parsed.match = match.as<std::string>();
  parsed.dla = bool_option(options, "dla", parsed.dla);
  parsed.raw_excluded = bool_option(options, "rawExcluded", parsed.raw_excluded);
  parsed.float_weights = bool_option(options, "floatWeights", parsed.float_weights);
  parsed.direct_io = bool_option(options, "directIo", parsed.direct_io);
  parsed.concat_groups = bool_option(options, "concatGroups", parsed.concat_groups);
  const val config = options["config"];
  if (!config.isUndefined() && !config.isNull()) {
    Result<AimetConfig> read =
        aimet_config_from_json(val::global("JSON").call<std::string>("stringify", config));
    if (!read.ok()) return read.error();
    parsed.config = std::move(read).value();
  }
  const val shapes = options["sampleShapes"];  // [["tensor", [1, 3, 224, 224]], …]
  if (shapes.isUndefined() || shapes.isNull()) return parsed;
  const std::size_t count = shapes["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    const val dims = shapes[i][1];
    std::vector<std::int64_t> shape;
    for (std::size_t axis = 0; axis < dims["length"].as<std::size_t>(); ++axis) {
      const Result<std::uint64_t> dimension = size_from_js(dims[axis].as<double>());
      if (!dimension.ok()) return dimension.error();
      shape.push_back(static_cast<std::int64_t>(dimension.value()));
    }
    parsed.sample_shapes.emplace_back(shapes[i][0].as<std::string>(), std::move(shape));
  }
  return parsed;
}

}  // namespace

val success(val value) {
  val result = val::object();
  result.set("ok", true);
  result.set("value", std::move(value));
  return result;
}

val failure(const Error& error) {
  val result = val::object();
  result.set("ok", false);
  result.set("code", utf8(error_code_name(error.code)));
  result.set("message", error.message);
  result.set("where", error.where);
  result.set("next", error.next);
  return result;
}

Error out_of_memory() {
  return Error{ErrorCode::kOutOfMemory, "Memory ran out in the core.", "",
               "The core can use at most 4 GB; use a smaller model or close others."};
}

Error unexpected(const char* what) {
  return Error{ErrorCode::kInternal, std::string("Something failed that should not: ") + what + ".", "",
               "This is a fault of Halftone; please report it."};
}

val bytes_to_js(std::span<const std::uint8_t> bytes) {
  val copy = val::global("Uint8Array").new_(static_cast<double>(bytes.size()));
  copy.call<void>("set", val(emscripten::typed_memory_view(bytes.size(), bytes.data())));
  return copy;
}

val floats_to_js(std::span<const float> values) {
  val copy = val::global("Float32Array").new_(static_cast<double>(values.size()));
  copy.call<void>("set", val(emscripten::typed_memory_view(values.size(), values.data())));
  return copy;
}

val pieces_to_js(const std::vector<std::span<const std::uint8_t>>& pieces, std::uint64_t offset,
                 std::uint64_t length) {
  val copy = val::global("Uint8Array").new_(static_cast<double>(length));
  std::uint64_t start = 0;  // of the piece, in the whole
  for (const std::span<const std::uint8_t> piece : pieces) {
    const std::uint64_t end = start + piece.size();
    const std::uint64_t from = std::max(start, offset);
    const std::uint64_t to = std::min(end, offset + length);
    if (from < to) {
      const auto part =
          piece.subspan(static_cast<std::size_t>(from - start), static_cast<std::size_t>(to - from));
      copy.call<void>("set", val(emscripten::typed_memory_view(part.size(), part.data())),
                      static_cast<double>(from - offset));
    }
    start = end;
  }
  return copy;
}

val strings_to_js(std::span<const std::string> strings) {
  val list = val::array();
  for (const std::string& text : strings) list.call<void>("push", text);
  return list;
}

val warnings_to_js(std::span<const Warning> warnings) {
  val list = val::array();
  for (const Warning& warning : warnings) {
    val entry = val::object();
    entry.set("code", warning.code);
    entry.set("message", warning.message);
    entry.set("where", warning.where);
    list.call<void>("push", entry);
  }
  return list;
}

val number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? val(*number) : val::null();
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_from_js(const val& list) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
  const std::size_t count = list["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> dims;
    const val shape = list[i][1];
    const std::size_t rank = shape["length"].as<std::size_t>();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const Result<std::uint64_t> dim = size_from_js(shape[axis].as<double>());
      dims.push_back(dim.ok() ? static_cast<std::int64_t>(dim.value()) : -1);
    }
    shapes.emplace_back(list[i][0].as<std::string>(), std::move(dims));
  }
  return shapes;
}

std::vector<std::string> strings_from_js(const val& list) {
  const std::size_t count = list["length"].as<std::size_t>();
  std::vector<std::string> strings;
  strings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) strings.push_back(list[i].as<std::string>());
  return strings;
}

Result<void> floats_from_js(const val& array, std::vector<float>& into) {
  if (!array.instanceof (val::global("Float32Array"))) {
    return Error{ErrorCode::kUnsupportedType, "A tensor of float32 values was expected.", "", ""};
  }
  into.resize(array["length"].as<std::size_t>());
  // The view is made after the resize: memory that grows leaves older views empty.
  val(emscripten::typed_memory_view(into.size(), into.data())).call<void>("set", array);
  return {};
}

Result<std::uint64_t> size_from_js(double number) {
  if (!(number >= 0) || number > kLargestExact || number != std::floor(number))
    return bad_argument("A size is no whole number.");
  return static_cast<std::uint64_t>(number);
}

Result<PlanOptions> plan_options_from_js(const val& options) {
  PlanOptions parsed;
  const val target = options["target"];
  if (!target.isUndefined() && !target.isNull()) {
    const Result<Target> known = target_from_name(target.as<std::string>());
    if (!known.ok()) return known.error();
    parsed.target = known.value();
  }
  const Result<std::optional<NumberFormat>> activations = format_option(options, "activations");
  if (!activations.ok()) return activations.error();
  const Result<std::optional<NumberFormat>> weights = format_option(options, "weights");
  if (!weights.ok()) return weights.error();
  parsed.activations = activations.value();
  parsed.weights = weights.value();
  parsed.per_channel = bool_option(options, "perChannel", parsed.per_channel);
  const val symmetric = options["activationsSymmetric"];
  if (symmetric.isTrue() || symmetric.isFalse()) parsed.activations_symmetric = symmetric.isTrue();
  parsed.include = list_option(options, "include");
  parsed.exclude = list_option(options, "exclude");
  return with_target_options(options, std::move(parsed));
}

Result<std::optional<Encoding>> encoding_from_json(const std::string& json) {
  if (json.empty()) return std::optional<Encoding>();
  Result<Encodings> parsed = encodings_from_json(R"({"encodings":{"tensor":)" + json + "}}");
  if (!parsed.ok()) return parsed.error();
  return std::optional<Encoding>(parsed.value().all().front().second);
}

Result<val> skeleton_to_js(const std::shared_ptr<const Model>& model) {
  Result<WrittenModel> written =
      write_model(model, {.placement = WeightPlacement::kStoreReferences, .external_location = ""});
  if (!written.ok()) return written.error();
  val buffers = val::array();
  for (const StoreBuffer& buffer : model->buffers()) {
    if (!std::string_view(buffer.path).starts_with(kMadeHere)) continue;
    val entry = val::object();
    entry.set("path", buffer.path);
    entry.set("bytes", bytes_to_js(buffer.bytes));
    buffers.call<void>("push", entry);
  }
  val skeleton = val::object();
  const ByteRope& rope = written.value().model;
  skeleton.set("model", pieces_to_js(rope.pieces(), 0, rope.size()));
  skeleton.set("buffers", buffers);
  return skeleton;
}

}  // namespace halftone::wasm
