#include <cmath>
#include <string>
#include <utility>

#include "exchange/json_reading.h"
#include "exchange/json_text.h"
#include "halftone/exchange.h"

namespace halftone {
namespace {

Json encoding_json(const Encoding& encoding) {
  return Json{{"format", number_format_info(encoding.format).name},
              {"scale", float_list(encoding.scale)},
              {"zero_point", encoding.zero_point},
              {"axis", encoding.axis < 0 ? Json(nullptr) : Json(encoding.axis)},
              {"min", float_list(encoding.min)},
              {"max", float_list(encoding.max)}};
}

// A bias's scale is a product, which may be denormal.
bool usable_scale(NumberFormat format, float scale) {
  return scale > 0.0F && (format == NumberFormat::kInt32 ? std::isfinite(scale) : std::isnormal(scale));
}

Encoding read_encoding(JsonReader& reader) {
  Encoding encoding;
  encoding.format = reader.format("format");
  encoding.scale = reader.floats("scale");
  encoding.zero_point = reader.integers("zero_point");
  encoding.axis = static_cast<std::int32_t>(reader.integer_or("axis", -1, 0, 1 << 20));
  if (reader.has("min")) encoding.min = reader.floats("min");
  if (reader.has("max")) encoding.max = reader.floats("max");
  if (encoding.scale.empty()) reader.fail("scale", "is empty");
  if (encoding.axis < 0 && encoding.scale.size() > 1)
    reader.fail("axis", "is missing, and there is more than one scale");
  if (encoding.zero_point.size() != encoding.scale.size())
    reader.fail("zero_point", "has not one value for each scale");
  for (const float scale : encoding.scale)
    if (!usable_scale(encoding.format, scale))
      reader.fail("scale", "holds a value that is not a positive normal float32");
  const NumberFormatInfo& format = number_format_info(encoding.format);
  for (const std::int32_t zero : encoding.zero_point)
    if (zero < format.lowest || zero > format.highest)
      reader.fail("zero_point", "holds a value outside the format's codes");
  for (const std::vector<float>* range : {&encoding.min, &encoding.max})
    if (!range->empty() && range->size() != encoding.scale.size())
      reader.fail(range == &encoding.min ? "min" : "max", "has not one value for each scale");
  return encoding;
}

}  // namespace

std::string encodings_to_json(const Encodings& encodings, const FileFacts& file, std::string_view method,
                              std::int64_t samples) {
  Json json = file_header(file);
  json["method"] = method;
  json["samples"] = samples;
  Json& list = json["encodings"] = Json::object();
  for (const auto& [tensor, encoding] : encodings.all()) append_member(list, tensor, encoding_json(encoding));
  return json_text(json);
}

Result<Encodings> encodings_from_json(std::string_view json) {
  const Result<Json> parsed = parse_json_object(json, "encodings");
  if (!parsed.ok()) return parsed.error();
  JsonFault fault("encodings");
  JsonReader reader(parsed.value(), fault);
  Encodings encodings;
  for (auto& [tensor, entry] : reader.members("encodings")) encodings.set(tensor, read_encoding(entry));
  if (fault.error) return *fault.error;
  return encodings;
}

}  // namespace halftone
