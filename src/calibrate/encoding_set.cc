#include <utility>

#include "halftone/encoding.h"

namespace halftone {

void Encodings::set(std::string tensor, Encoding encoding) {
  const auto [place, added] = index_.emplace(tensor, entries_.size());
  if (added) {
    entries_.emplace_back(std::move(tensor), std::move(encoding));
  } else {
    entries_[place->second].second = std::move(encoding);
  }
}

const Encoding* Encodings::find(std::string_view tensor) const {
  const auto place = index_.find(std::string(tensor));
  return place == index_.end() ? nullptr : &entries_[place->second].second;
}

}  // namespace halftone
