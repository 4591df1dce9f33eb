// What somebody may have meant by a name that doesn't exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halftone {

// At most `limit` of `names` that resemble `wanted`, best first: names that contain it in any case, then
// names within a few edits of it; ties in the order of `names`. Empty for an empty `wanted`. O(total length
// of names * edits).
std::vector<std::string_view> near_misses(std::string_view wanted, const std::vector<std::string_view>& names,
                                          std::size_t limit);

}  // namespace halftone
