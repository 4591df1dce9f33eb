// Source: spec of ModelOpt's concat elimination: every member's minima and maxima are lent to all others.
#include "calibrate/scale_groups.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone {
namespace {

struct Group {
  std::vector<const Site*> members;
  MinMax range;
  bool all_ranges = true;
};

// In order of their first members.
std::vector<Group> groups_of(const Plan& plan, const Encodings& encodings) {
  std::vector<Group> groups;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Site& site : plan.sites) {
    if (!site.quantized || !site.scale_group) continue;
    const Encoding* encoding = encodings.find(site.tensor);
    if (encoding == nullptr) continue;
    const auto [place, added] = index.emplace(*site.scale_group, groups.size());
    if (added) groups.emplace_back();
    Group& group = groups[place->second];
    group.members.push_back(&site);
    if (encoding->min.size() != 1 || encoding->max.size() != 1) {
      group.all_ranges = false;
      continue;
    }
    group.range.min = std::min(group.range.min, encoding->min.front());
    group.range.max = std::max(group.range.max, encoding->max.front());
  }
  return groups;
}

Result<void> check_equal(const Group& group, const Encodings& encodings) {
  const Encoding& first = *encodings.find(group.members.front()->tensor);
  for (const Site* site : group.members) {
    const Encoding& encoding = *encodings.find(site->tensor);
    if (encoding.scale == first.scale && encoding.zero_point == first.zero_point) continue;
    return Error{ErrorCode::kInvalidPolicy,
                 "\"" + printable(site->tensor) + "\" has another scale than its group \"" +
                     printable(*site->scale_group) + "\", and not every member has a range.",
                 printable(site->tensor), "Give all members the same scale, or calibrate again."};
  }
  return {};
}

}  // namespace

Result<void> share_group_scales(const Plan& plan, Encodings& encodings) {
  for (const Group& group : groups_of(plan, encodings)) {
    if (!group.all_ranges) {
      if (Result<void> equal = check_equal(group, encodings); !equal.ok()) return equal;
      continue;
    }
    for (const Site* site : group.members) {
      Site free_site = *site;
      free_site.fixed_range.reset();
      const Result<Encoding> shared = activation_encoding(free_site, group.range, float8_scale_of(plan));
      if (!shared.ok()) return shared.error();
      Encoding encoding = *encodings.find(site->tensor);
      encoding.scale = shared.value().scale;
      encoding.zero_point = shared.value().zero_point;
      encodings.set(site->tensor, std::move(encoding));
    }
  }
  return {};
}

std::vector<BranchGrowth> scale_growth(const Plan& plan, const Encodings& encodings) {
  std::vector<BranchGrowth> growth;
  for (const Group& group : groups_of(plan, encodings)) {
    if (!group.all_ranges) continue;
    for (const Site* site : group.members) {
      const Encoding& encoding = *encodings.find(site->tensor);
      const Result<Encoding> own =
          activation_encoding(*site, {encoding.min.front(), encoding.max.front()}, float8_scale_of(plan));
      if (!own.ok()) continue;
      growth.push_back({*site->scale_group, site->tensor, own.value().scale.front(), encoding.scale.front()});
    }
  }
  return growth;
}

}  // namespace halftone
