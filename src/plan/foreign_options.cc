#include "plan/foreign_options.h"

#include <string>

namespace halftone {
namespace {

struct Belonging {
  bool is_set;
  std::string_view option;
  std::string_view targets;  // the first is the one to choose for it
};

Error format_error(std::string_view target, std::string_view option, NumberFormat given,
                   std::string_view allowed) {
  return Error{ErrorCode::kInvalidPolicy,
               "Target " + std::string(target) + " can't store " + std::string(option) + " as " +
                   std::string(number_format_info(given).name) + ".",
               std::string(option), "Choose one of " + std::string(allowed) + "."};
}

// Not those of 2 bits: they need operator set 25, which no runtime of this target's models has.
bool is_integer_format(NumberFormat format) {
  const NumberFormatInfo& info = number_format_info(format);
  return is_quantize_format(format) && info.kind == FormatKind::kInteger && info.bits >= 4;
}

}  // namespace

Result<void> check_foreign_options(const PlanOptions& options, std::string_view target) {
  const Belonging known[] = {{options.match.has_value(), "match", "tensorrt aimet"},
                             {options.config.has_value(), "config", "aimet"},
                             {options.dla, "dla", "tensorrt"},
                             {options.raw_excluded, "raw_excluded", "tensorrt"},
                             {options.float_weights, "float_weights", "tensorrt"},
                             {options.direct_io, "direct_io", "tensorrt"},
                             {!options.concat_groups, "concat_groups", "tensorrt"}};
  for (const Belonging& one : known) {
    if (!one.is_set || one.targets.find(target) != std::string_view::npos) continue;
    return Error{
        ErrorCode::kInvalidPolicy,
        "The option " + std::string(one.option) + " has no meaning for target " + std::string(target) + ".",
        std::string(one.option),
        "Leave it out, or choose target " + std::string(one.targets.substr(0, one.targets.find(' '))) + "."};
  }
  return {};
}

Result<void> check_integer_formats(const TargetFormats& formats, std::string_view target) {
  const bool activations_fit =
      is_integer_format(formats.activations) && number_format_info(formats.activations).bits >= 8;
  if (!activations_fit)
    return format_error(target, "activations", formats.activations, "uint8, int8, uint16, int16");
  if (!is_integer_format(formats.weights))
    return format_error(target, "weights", formats.weights, "int8, uint8, int16, uint16, int4, uint4");
  return {};
}

}  // namespace halftone
