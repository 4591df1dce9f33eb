#include "switching.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "conversions.h"
#include "halftone/switched_part.h"

namespace halftone::wasm {

val switch_on_values(const std::string& kind, const val& values, const val& dims,
                     const std::string& encoding) {
  return guarded([&] {
    const Result<std::optional<Encoding>> known = encoding_from_json(encoding);
    if (!known.ok()) return failure(known.error());
    if (!known.value())
      return failure(Error{ErrorCode::kInternal, "A switch was given no encoding.", "", ""});
    // Kept between calls: the same tensors come again for each sample.
    static std::vector<float> floats;
    static std::vector<float> made;
    if (const Result<void> read = floats_from_js(values, floats); !read.ok()) return failure(read.error());
    std::vector<std::int64_t> shape;
    const auto rank = dims["length"].as<std::size_t>();
    for (std::size_t axis = 0; axis < rank; ++axis)
      shape.push_back(static_cast<std::int64_t>(dims[axis].as<double>()));
    made.resize(floats.size());
    const SwitchKind how = kind == "addend" ? SwitchKind::kAddend : SwitchKind::kInput;
    const Result<bool> exact = switch_on(how, floats, shape, *known.value(), made);
    if (!exact.ok()) return failure(exact.error());
    val answer = val::object();
    answer.set("values", floats_to_js(made));
    answer.set("exact", exact.value());
    return success(answer);
  });
}

}  // namespace halftone::wasm
