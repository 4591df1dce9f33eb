#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/json_reading.h"
#include "exchange/json_text.h"
#include "halftone/exchange.h"
#include "plan/opset_needed.h"
#include "plan/targets.h"

namespace halftone {
namespace {

Json optional_text(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

std::string_view format_name(NumberFormat format) { return number_format_info(format).name; }

Json shapes_json(const PlanOptions& options) {
  Json shapes = Json::array();
  for (const auto& [tensor, shape] : options.sample_shapes)
    shapes.push_back(Json{{"tensor", tensor}, {"shape", shape}});
  return shapes;
}

Json options_json(const PlanOptions& options) {
  const TargetFormats formats = target_rules(options.target).formats(options);
  Json json{{"activations", format_name(formats.activations)},
            {"weights", format_name(formats.weights)},
            {"activations_symmetric", formats.activations_symmetric},
            {"per_channel", options.per_channel},
            {"include", options.include},
            {"exclude", options.exclude}};
  // The default configuration is not written: it is the target's.
  if (options.config && !options.config->text.empty()) {
    Result<Json> config = parse_json_object(options.config->text, "configuration");
    if (config.ok()) json["config"] = std::move(config).value();
  }
  if (options.target != Target::kTensorRT) return json;
  json["dla"] = options.dla;
  json["raw_excluded"] = options.raw_excluded;
  json["float_weights"] = options.float_weights;
  json["direct_io"] = options.direct_io;
  json["concat_groups"] = options.concat_groups;
  json["sample_shapes"] = shapes_json(options);
  return json;
}

Json grid_json(const AimetGrid& grid) {
  Json json = Json::object();
  if (grid.strict_symmetric) json["strict_symmetric"] = true;
  if (grid.unsigned_symmetric) json["unsigned_symmetric"] = true;
  if (grid.half_up) json["half_up"] = true;
  return json;
}

Json site_json(const Site& site) {
  Json consumers = Json::array();
  for (const Consumer& consumer : site.consumers)
    consumers.push_back(Json::array({consumer.node, consumer.input}));
  Json json{{"tensor", site.tensor},
            {"role", role_name(site.role)},
            {"quantized", site.quantized},
            {"format", format_name(site.format)},
            {"granularity", granularity_name(site.granularity)},
            {"axis", site.axis < 0 ? Json(nullptr) : Json(site.axis)},
            {"block_size", site.block_size == 0 ? Json(nullptr) : Json(site.block_size)},
            {"symmetric", site.symmetric},
            {"scale_group", optional_text(site.scale_group)},
            {"rule", site.rule},
            {"why", site.why},
            {"consumers", std::move(consumers)}};
  if (site.fixed_range)
    json["fixed_range"] = Json::array({float_json(site.fixed_range->min), float_json(site.fixed_range->max)});
  if (site.serves_output) json["serves_output"] = true;
  if (site.aimet) json["aimet"] = grid_json(*site.aimet);
  if (site.bias_of)
    json["bias_of"] = Json{{"activation", site.bias_of->activation}, {"weight", site.bias_of->weight}};
  return json;
}

Json input_json(const InputDecision& input) {
  return Json{{"node", input.node},
              {"op", input.op},
              {"input", input.input},
              {"tensor", input.tensor},
              {"quantized", input.quantized},
              {"rule", input.rule},
              {"why", input.why},
              {"partition", optional_text(input.partition)}};
}

constexpr std::array<Role, 3> kRoles = {Role::kActivation, Role::kWeight, Role::kBias};
constexpr std::array<Granularity, 3> kGranularities = {Granularity::kTensor, Granularity::kChannel,
                                                       Granularity::kBlock};

void read_shapes(JsonReader& options, PlanOptions& into) {
  for (JsonReader& entry : options.list("sample_shapes")) {
    const std::vector<std::int32_t> shape = entry.integers("shape");
    into.sample_shapes.emplace_back(entry.text("tensor"),
                                    std::vector<std::int64_t>(shape.begin(), shape.end()));
  }
}

PlanOptions read_options(JsonReader& reader) {
  PlanOptions options;
  if (!reader.has("options")) return options;
  JsonReader part = reader.object("options");
  if (part.has("activations")) options.activations = part.format("activations");
  if (part.has("weights")) options.weights = part.format("weights");
  if (part.has("activations_symmetric"))
    options.activations_symmetric = part.boolean("activations_symmetric");
  options.per_channel = part.boolean_or("per_channel", options.per_channel);
  if (part.has("include")) options.include = part.texts("include");
  if (part.has("exclude")) options.exclude = part.texts("exclude");
  options.dla = part.boolean_or("dla", options.dla);
  options.raw_excluded = part.boolean_or("raw_excluded", options.raw_excluded);
  options.float_weights = part.boolean_or("float_weights", options.float_weights);
  options.direct_io = part.boolean_or("direct_io", options.direct_io);
  options.concat_groups = part.boolean_or("concat_groups", options.concat_groups);
  if (part.has("sample_shapes")) read_shapes(part, options);
  if (part.has("config")) {
    Result<AimetConfig> config = aimet_config_from_json(part.json_of("config"));
    if (config.ok()) {
      options.config = std::move(config).value();
    } else {
      part.fail_with(config.error());
    }
  }
  return options;
}

ValueRange read_range(JsonReader& site) {
  const std::vector<float> ends = site.floats("fixed_range");
  if (ends.size() == 2 && std::isfinite(ends[0]) && std::isfinite(ends[1]) && ends[0] <= ends[1])
    return {ends[0], ends[1]};
  site.fail("fixed_range", "is not a pair of numbers, the smaller one first");
  return {};
}

Site read_site(JsonReader reader) {
  Site site;
  site.tensor = reader.text("tensor");
  site.role = reader.choice<Role, 3>("role", kRoles, role_name);
  site.quantized = reader.boolean("quantized");
  site.format = reader.format("format");
  site.granularity = reader.choice<Granularity, 3>("granularity", kGranularities, granularity_name);
  site.axis = static_cast<std::int32_t>(reader.integer_or("axis", -1, -1, 1 << 20));
  site.block_size = reader.integer_or("block_size", 0, 0, std::int64_t{1} << 40);
  site.symmetric = reader.boolean_or("symmetric", false);
  site.scale_group = reader.optional_text("scale_group");
  if (reader.has("fixed_range")) site.fixed_range = read_range(reader);
  site.serves_output = reader.boolean_or("serves_output", false);
  if (reader.has("aimet")) {
    JsonReader grid = reader.object("aimet");
    site.aimet = AimetGrid{grid.boolean_or("strict_symmetric", false),
                           grid.boolean_or("unsigned_symmetric", false), grid.boolean_or("half_up", false)};
  }
  site.rule = reader.text_or("rule", "edited");
  site.why = reader.text_or("why", "Set in a plan file.");
  for (JsonReader& pair : reader.list("consumers")) {
    const auto [node, input] = pair.text_and_index();
    site.consumers.push_back(Consumer{node, input});
  }
  if (reader.has("bias_of")) {
    JsonReader of = reader.object("bias_of");
    site.bias_of = BiasOf{of.text("activation"), of.text("weight")};
  } else if (site.role == Role::kBias) {
    reader.fail("bias_of",
                "is missing, and a bias needs the two tensors whose "
                "scales make its own");
  }
  return site;
}

InputDecision read_input(JsonReader reader) {
  InputDecision input;
  input.node = reader.text("node");
  input.op = reader.text_or("op", "");
  input.input = static_cast<std::int32_t>(reader.integer_or("input", 0, 0, 1 << 20));
  input.tensor = reader.text_or("tensor", "");
  input.quantized = reader.boolean_or("quantized", false);
  input.rule = reader.text_or("rule", "");
  input.why = reader.text_or("why", "");
  input.partition = reader.optional_text("partition");
  return input;
}

// The sites are what counts, but options that contradict themselves were in no plan that Halftone made.
Result<void> check_options(const PlanOptions& options) {
  const TargetRules& rules = target_rules(options.target);
  std::vector<Warning> known;  // the plan holds those of its making
  return rules.check_options(options, rules.formats(options), known);
}

}  // namespace

std::string plan_to_json(const Plan& plan, const FileFacts& file) {
  Json json = file_header(file);
  json["target"] = target_name(plan.target);
  json["match"] = optional_text(plan.match);
  json["options"] = options_json(plan.options);
  json["sites"] = Json::array();
  for (const Site& site : plan.sites) json["sites"].push_back(site_json(site));
  json["inputs"] = Json::array();
  for (const InputDecision& input : plan.inputs) json["inputs"].push_back(input_json(input));
  json["warnings"] = warnings_json(plan.warnings);
  return json_text(json);
}

Result<Plan> plan_from_json(std::string_view json) {
  const Result<Json> parsed = parse_json_object(json, "plan");
  if (!parsed.ok()) return parsed.error();
  JsonFault fault("plan");
  JsonReader reader(parsed.value(), fault);
  Plan plan;
  const std::string target = reader.text("target");
  plan.match = reader.optional_text("match");
  plan.options = read_options(reader);
  for (JsonReader& site : reader.list("sites")) plan.sites.push_back(read_site(site));
  if (reader.has("inputs"))
    for (JsonReader& input : reader.list("inputs")) plan.inputs.push_back(read_input(input));
  if (reader.has("warnings")) plan.warnings = reader.warnings("warnings");
  if (fault.error) return *fault.error;
  const Result<Target> known = target_from_name(target);
  if (!known.ok()) return known.error();
  plan.target = known.value();
  plan.options.target = known.value();
  plan.options.match = plan.match;
  if (Result<void> fits = check_options(plan.options); !fits.ok()) return fits.error();
  plan.opset_needed = opset_needed_for(plan);
  return plan;
}

}  // namespace halftone
