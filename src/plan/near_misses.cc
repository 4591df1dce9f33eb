#include "plan/near_misses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace halftone {
namespace {

// Longer names are hostile or generated; comparing them costs much and helps nobody.
constexpr std::size_t kLongestCompared = 256;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

// Insertions, deletions and replacements that turn `a` into `b`, or anything above `most` if there are more.
// Only cells within `most` of the diagonal are computed.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  const std::size_t far = most + 1;
  if (a.size() > b.size() + most || b.size() > a.size() + most) return far;
  std::vector<std::size_t> above(b.size() + 1, far);
  std::vector<std::size_t> row(b.size() + 1, far);
  for (std::size_t column = 0; column <= std::min(most, b.size()); ++column) above[column] = column;
  for (std::size_t line = 1; line <= a.size(); ++line) {
    const std::size_t from = line > most ? line - most : 1;
    const std::size_t to = std::min(b.size(), line + most);
    row[from - 1] = from == 1 ? line : far;
    for (std::size_t column = from; column <= to; ++column) {
      const std::size_t replaced = above[column - 1] + (a[line - 1] == b[column - 1] ? 0 : 1);
      row[column] = std::min({replaced, above[column] + 1, row[column - 1] + 1, far});
    }
    if (to < b.size()) row[to + 1] = far;
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::vector<std::string_view> near_misses(std::string_view wanted, const std::vector<std::string_view>& names,
                                          std::size_t limit) {
  std::vector<std::string_view> result;
  if (wanted.empty() || wanted.size() > kLongestCompared) return result;
  const std::string key = lowered(wanted);
  const std::size_t most = std::min<std::size_t>(8, (key.size() + 2) / 3);
  std::vector<std::pair<std::size_t, std::size_t>> found;  // distance, index
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index].size() > kLongestCompared || names[index].empty()) continue;
    const std::string name = lowered(names[index]);
    const std::size_t distance = name.find(key) != std::string::npos ? 0 : edit_distance(key, name, most);
    if (distance <= most) found.emplace_back(distance, index);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [distance, index] : found) {
    if (result.size() == limit) break;
    // A node and its output often have the same name.
    if (std::find(result.begin(), result.end(), names[index]) == result.end()) result.push_back(names[index]);
  }
  return result;
}

}  // namespace halftone
