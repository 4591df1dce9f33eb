#include <algorithm>
#include <iterator>
#include <utility>

#include "halftone/writer.h"

namespace halftone {

void ByteRope::append_owned(std::vector<std::uint8_t> bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({std::move(bytes), {}});
}

void ByteRope::append_view(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({{}, bytes});
}

void ByteRope::append(ByteRope&& other) {
  pieces_.insert(pieces_.end(), std::make_move_iterator(other.pieces_.begin()),
                 std::make_move_iterator(other.pieces_.end()));
  owners_.insert(owners_.end(), std::make_move_iterator(other.owners_.begin()),
                 std::make_move_iterator(other.owners_.end()));
  size_ += other.size_;
  other = ByteRope{};
}

void ByteRope::keep_alive(std::shared_ptr<const void> owner) {
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

std::vector<std::span<const std::uint8_t>> ByteRope::pieces() const {
  std::vector<std::span<const std::uint8_t>> spans;
  spans.reserve(pieces_.size());
  for (const Piece& piece : pieces_) {
    spans.push_back(piece.owned.empty() ? piece.view : std::span<const std::uint8_t>(piece.owned));
  }
  return spans;
}

std::vector<std::uint8_t> ByteRope::flatten() const {
  std::vector<std::uint8_t> whole;
  whole.reserve(static_cast<std::size_t>(size_));
  for (const std::span<const std::uint8_t> piece : pieces())
    whole.insert(whole.end(), piece.begin(), piece.end());
  return whole;
}

}  // namespace halftone
