// Source: the schema of AIMET's configuration files, restated. Values that AIMET writes as "True" and "False"
// may be JSON's true and false too.
#include <cmath>
#include <string>
#include <utility>

#include "exchange/json_text.h"
#include "halftone/exchange.h"

namespace halftone {
namespace {

enum Section : unsigned { kOps = 1, kParameters = 2, kOpType = 4, kInput = 8, kOutput = 16 };

struct SettingKey {
  std::string_view key;
  std::optional<bool> AimetSettings::*setting;
  unsigned sections;  // in which it means something
};

constexpr SettingKey kSettings[] = {
    {"is_input_quantized", &AimetSettings::input_quantized, kOps | kOpType | kInput},
    {"is_output_quantized", &AimetSettings::output_quantized, kOps | kOpType | kOutput},
    {"is_quantized", &AimetSettings::quantized, kParameters},
    {"is_symmetric", &AimetSettings::symmetric, kOps | kParameters | kOpType | kInput | kOutput},
    {"per_channel_quantization", &AimetSettings::per_channel, kOpType}};

constexpr std::size_t kMostSupergroups = 256;
constexpr std::size_t kLongestSupergroup = 16;

class ConfigReader {
 public:
  Result<AimetConfig> read(const Json& root) {
    for (const auto& [key, value] : members(root, "$")) read_section(key, *value);
    if (error_) return *error_;
    config_.text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
    return std::move(config_);
  }

 private:
  static std::string below(const std::string& path, const std::string& key) { return path + "." + key; }

  void fail(const std::string& path, const std::string& what) {
    if (error_) return;
    error_ =
        Error{ErrorCode::kInvalidPolicy, "In the AIMET configuration, " + printable(path) + " " + what + ".",
              printable(path), "Correct it there, or leave it out."};
  }

  void warn(const char* code, const std::string& path, const std::string& what) {
    config_.warnings.push_back(
        {code, "In the AIMET configuration, " + printable(path) + " " + what + ".", printable(path)});
  }

  void unknown(const std::string& path) { warn("config_key_unknown", path, "isn't known and has no effect"); }

  using Members = std::vector<std::pair<std::string, const Json*>>;

  // Empty, and a fault, unless it is an object. In one place, since walking an object takes much code.
  Members members(const Json& json, const std::string& path) {
    Members list;
    if (!json.is_object()) {
      fail(path, "is not an object");
      return list;
    }
    for (const auto& [key, value] : json.items()) list.emplace_back(key, &value);
    return list;
  }
  bool is_list(const Json& json, const std::string& path) {
    if (!json.is_array()) fail(path, "is not a list");
    return json.is_array();
  }

  bool flag(const Json& json, const std::string& path) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_string() && json == "True") return true;
    if (!json.is_string() || json != "False") fail(path, "is not \"True\" or \"False\"");
    return false;
  }

  void read_section(const std::string& key, const Json& json) {
    const std::string path = below("$", key);
    if (key == "defaults") {
      read_defaults(json, path);
    } else if (key == "params") {
      read_roles(json, path, "");
    } else if (key == "op_type") {
      read_op_types(json, path);
    } else if (key == "supergroups") {
      read_supergroups(json, path);
    } else if (key == "supergroup_pass_list") {
      read_passes(json, path);
    } else if (key == "model_input") {
      read_settings(json, path, kInput, config_.model_input);
    } else if (key == "model_output") {
      read_settings(json, path, kOutput, config_.model_output);
    } else {
      unknown(path);
    }
  }

  void read_defaults(const Json& json, const std::string& path) {
    for (const auto& [key, value] : members(json, path)) {
      const std::string inside = below(path, key);
      if (key == "ops") {
        read_settings(*value, inside, kOps, config_.ops);
      } else if (key == "params") {
        read_settings(*value, inside, kParameters, config_.parameters);
      } else if (key == "strict_symmetric") {
        config_.strict_symmetric = flag(*value, inside);
      } else if (key == "unsigned_symmetric") {
        config_.unsigned_symmetric = flag(*value, inside);
      } else if (key == "per_channel_quantization") {
        config_.per_channel = flag(*value, inside);
      } else if (key == "hw_version" || key == "supported_kernels") {
        warn("config_not_followed", inside, "is not supported: the rules of a hardware are not applied");
      } else {
        unknown(inside);
      }
    }
  }

  void read_settings(const Json& json, const std::string& path, Section section, AimetSettings& into) {
    for (const auto& [key, value] : members(json, path))
      read_setting(key, *value, below(path, key), section, into);
  }

  void read_setting(const std::string& key, const Json& value, const std::string& path, Section section,
                    AimetSettings& into) {
    for (const SettingKey& known : kSettings) {
      if (known.key != key || (known.sections & section) == 0) continue;
      into.*known.setting = flag(value, path);
      return;
    }
    if (key == "encoding_constraints" && section != kParameters) {
      read_range(value, path, into);
    } else if (key == "supported_kernels") {
      warn("config_not_followed", path, "is not supported: the rules of a hardware are not applied");
    } else {
      unknown(path);
    }
  }

  void read_range(const Json& json, const std::string& path, AimetSettings& into) {
    const Json* min = nullptr;
    const Json* max = nullptr;
    for (const auto& [key, value] : members(json, path)) {
      if (key == "min") min = value;
      if (key == "max") max = value;
    }
    if (min == nullptr || max == nullptr) {
      return warn("config_not_followed", path, "has not two ends, which is not supported: it has no effect");
    }
    const ValueRange range{number(*min, path), number(*max, path)};
    if (range.min > range.max) fail(path, "has its min above its max");
    into.range = range;
  }

  float number(const Json& json, const std::string& path) {
    const float value = json.is_number() ? static_cast<float>(json.get<double>()) : NAN;
    if (!std::isfinite(value)) fail(path, "has an end that is not a finite number");
    return value;
  }

  // `prefix` is that of an operator, "Conv/", or empty.
  void read_roles(const Json& json, const std::string& path, const std::string& prefix) {
    for (const auto& [role, settings] : members(json, path))
      read_settings(*settings, below(path, role), kParameters, config_.parameters_by_role[prefix + role]);
  }

  void read_op_types(const Json& json, const std::string& path) {
    for (const auto& [op, settings] : members(json, path)) {
      AimetSettings& into = config_.op_types[op];
      const std::string inside = below(path, op);
      for (const auto& [key, value] : members(*settings, inside)) {
        const std::string where = below(inside, key);
        key == "params" ? read_roles(*value, where, op + "/")
                        : read_setting(key, *value, where, kOpType, into);
      }
    }
  }

  void read_supergroups(const Json& json, const std::string& path) {
    if (!is_list(json, path)) return;
    if (json.size() > kMostSupergroups) fail(path, "has more than 256 entries");
    for (std::size_t i = 0; i < json.size() && !error_; ++i) {
      const std::string inside = path + "[" + std::to_string(i) + "]";
      for (const auto& [key, value] : members(json[i], inside)) {
        if (key == "op_list") {
          read_chain(*value, below(inside, key));
        } else {
          unknown(below(inside, key));
        }
      }
    }
  }

  void read_chain(const Json& json, const std::string& path) {
    std::vector<std::string> chain = texts(json, path);
    if (chain.size() < 2 || chain.size() > kLongestSupergroup)
      fail(path, "is not a list of 2 to 16 operator types");
    config_.supergroups.push_back(std::move(chain));
  }

  void read_passes(const Json& json, const std::string& path) {
    for (const std::string& pass : texts(json, path)) {
      if (pass == "MatmulAdd") {
        config_.matmul_add = true;
      } else {
        warn("config_not_followed", path, "names the pass " + printable(pass) + ", which is not supported");
      }
    }
  }

  std::vector<std::string> texts(const Json& json, const std::string& path) {
    std::vector<std::string> list;
    if (!is_list(json, path)) return list;
    for (const Json& entry : json) {
      if (entry.is_string()) {
        list.push_back(entry.get<std::string>());
      } else {
        fail(path, "holds something that is not a text");
      }
    }
    return list;
  }

  AimetConfig config_;
  std::optional<Error> error_;
};

}  // namespace

Result<AimetConfig> aimet_config_from_json(std::string_view json) {
  const Result<Json> parsed = parse_json_object(json, "configuration");
  if (!parsed.ok()) return parsed.error();
  return ConfigReader().read(parsed.value());
}

}  // namespace halftone
