// Buffers, spans and ropes: what they own, what they share, and how long it lives.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "halftone/writer.h"
#include "model/weight_store.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

ByteBuffer buffer_of(const Bytes& bytes) {
  Result<ByteBuffer> buffer = ByteBuffer::allocate(bytes.size());
  REQUIRE(buffer.ok());
  std::copy(bytes.begin(), bytes.end(), buffer.value().span().begin());
  return std::move(buffer).value();
}

TEST_CASE("a store finds its buffers by path and keeps their spans valid", "[model][store]") {
  WeightStore store;
  const std::span<const std::uint8_t> model = store.add("model", buffer_of({1, 2, 3}));
  std::vector<std::string> made;
  for (std::uint8_t i = 0; i < 100; ++i) made.push_back(store.add_new({i, i}));
  CHECK(Bytes(model.begin(), model.end()) == Bytes{1, 2, 3});
  CHECK(store.find("model").data() == model.data());
  for (std::uint8_t i = 0; i < 100; ++i) {
    CHECK(made[i] == "new/" + std::to_string(i));
    const auto bytes = store.find(made[i]);
    CHECK(Bytes(bytes.begin(), bytes.end()) == Bytes{i, i});
  }
  CHECK(store.find("new/100").empty());
  CHECK(store.find("").empty());
  const std::vector<StoreBuffer> buffers = store.buffers();
  REQUIRE(buffers.size() == 101);
  CHECK(buffers[0].path == "model");
  CHECK(buffers[100].path == "new/99");
}

TEST_CASE("an empty buffer, and one that no memory can hold", "[model][store]") {
  CHECK(ByteBuffer::allocate(0).value().span().empty());
  const Result<ByteBuffer> huge = ByteBuffer::allocate(UINT64_MAX);
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().code == ErrorCode::kOutOfMemory);
}

TEST_CASE("a rope is its pieces in order", "[model][store]") {
  const Bytes shared = pattern(100, 1);
  ByteRope rope;
  rope.append_owned({1, 2});
  rope.append_owned({});
  rope.append_view(shared);
  rope.append_view({});
  ByteRope tail;
  tail.append_owned({9});
  rope.append(std::move(tail));
  CHECK(rope.size() == 103);
  CHECK(rope.pieces().size() == 3);
  CHECK(rope.pieces()[1].data() == shared.data());
  const Bytes whole = rope.flatten();
  REQUIRE(whole.size() == 103);
  CHECK(whole[0] == 1);
  CHECK(whole[1] == 2);
  CHECK(std::equal(shared.begin(), shared.end(), whole.begin() + 2));
  CHECK(whole[102] == 9);
  CHECK(ByteRope{}.flatten().empty());
}

TEST_CASE("a rope keeps what it views alive", "[model][store]") {
  auto store = std::make_shared<WeightStore>();
  const std::weak_ptr<WeightStore> watch = store;
  ByteRope rope;
  rope.append_view(store->add("model", buffer_of({1, 2, 3})));
  rope.keep_alive(store);
  store.reset();
  CHECK_FALSE(watch.expired());
  ByteRope other;
  other.append(std::move(rope));
  CHECK(other.flatten() == Bytes{1, 2, 3});
  other = {};
  CHECK(watch.expired());
}

}  // namespace
}  // namespace halftone::test
