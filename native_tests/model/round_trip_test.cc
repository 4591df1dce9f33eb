// An untouched model comes out as it came in: same graph, byte-identical tensors in the same fields.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <functional>
#include <set>

#include "model/stored_tensor.h"
#include "model/varint_data.h"
#include "model/wire.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

using TensorVisitor = std::function<void(onnx::TensorProto&)>;

void each_tensor(onnx::GraphProto& graph, const TensorVisitor& visit);

void each_tensor(onnx::SparseTensorProto& sparse, const TensorVisitor& visit) {
  visit(*sparse.mutable_values());
  visit(*sparse.mutable_indices());
}

void each_tensor(onnx::AttributeProto& attribute, const TensorVisitor& visit) {
  if (attribute.has_t()) visit(*attribute.mutable_t());
  if (attribute.has_g()) each_tensor(*attribute.mutable_g(), visit);
  if (attribute.has_sparse_tensor()) each_tensor(*attribute.mutable_sparse_tensor(), visit);
  for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
  for (auto& graph : *attribute.mutable_graphs()) each_tensor(graph, visit);
  for (auto& sparse : *attribute.mutable_sparse_tensors()) each_tensor(sparse, visit);
}

void each_tensor(onnx::NodeProto& node, const TensorVisitor& visit) {
  for (auto& attribute : *node.mutable_attribute()) each_tensor(attribute, visit);
}

void each_tensor(onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (auto& node : *graph.mutable_node()) each_tensor(node, visit);
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& sparse : *graph.mutable_sparse_initializer()) each_tensor(sparse, visit);
}

void each_tensor(onnx::ModelProto& model, const TensorVisitor& visit) {
  each_tensor(*model.mutable_graph(), visit);
  for (auto& training : *model.mutable_training_info()) {
    each_tensor(*training.mutable_initialization(), visit);
    each_tensor(*training.mutable_algorithm(), visit);
  }
  for (auto& function : *model.mutable_functions()) {
    for (auto& node : *function.mutable_node()) each_tensor(node, visit);
    for (auto& attribute : *function.mutable_attribute_proto()) each_tensor(attribute, visit);
  }
}

// Bytes of the tensor's numbers as protobuf writes them.
std::size_t encoded_bytes(const onnx::TensorProto& tensor) {
  std::size_t bytes = tensor.raw_data().size() +
                      sizeof(float) * static_cast<std::size_t>(tensor.float_data_size()) +
                      sizeof(double) * static_cast<std::size_t>(tensor.double_data_size());
  for (const std::int32_t value : tensor.int32_data())
    bytes += varint_size(static_cast<std::uint64_t>(std::int64_t{value}));
  for (const std::int64_t value : tensor.int64_data())
    bytes += varint_size(static_cast<std::uint64_t>(value));
  for (const std::uint64_t value : tensor.uint64_data()) bytes += varint_size(value);
  return bytes;
}

ReadModel read_or_fail(const Bytes& file, const std::map<std::string, Bytes>& external = {}) {
  Result<ReadModel> model = read(file, external);
  if (!model) FAIL(model.error().message);
  return std::move(model).value();
}

WrittenModel write_or_fail(const ReadModel& model, const WriteOptions& options = {}) {
  Result<WrittenModel> written = write(model, options);
  if (!written) FAIL(written.error().message);
  return std::move(written).value();
}

TEST_CASE("a model with every kind of tensor in every place comes back byte by byte", "[model]") {
  const Bytes file = serialize(model_with_everything());
  const ReadModel model = read_or_fail(file);
  CHECK(write_or_fail(model).model.flatten() == file);
}

TEST_CASE("the skeleton holds no tensor above the limit, and every tensor below it", "[model]") {
  onnx::ModelProto original = model_with_everything();
  ReadModel model = read_or_fail(serialize(original));
  std::vector<onnx::TensorProto*> originals;
  each_tensor(original, [&](onnx::TensorProto& tensor) { originals.push_back(&tensor); });
  std::size_t at = 0;
  std::set<TensorField> fields;
  each_tensor(model.skeleton, [&](onnx::TensorProto& tensor) {
    REQUIRE(at < originals.size());
    const onnx::TensorProto& before = *originals[at++];
    INFO(before.name());
    const auto where = stored_tensor(tensor);
    REQUIRE(where.has_value() == (encoded_bytes(before) > kInlineLimitBytes));
    if (!where) {
      CHECK(tensor.SerializeAsString() == before.SerializeAsString());
      return;
    }
    fields.insert(where->field);
    CHECK(where->length == encoded_bytes(before));
    CHECK(stored_bytes(*model.store, *where).size() == where->length);
    CHECK(encoded_bytes(tensor) == 0);
    CHECK(tensor.name() == before.name());
    CHECK(std::equal(tensor.dims().begin(), tensor.dims().end(), before.dims().begin(), before.dims().end()));
  });
  CHECK(at == originals.size());
  CHECK(fields.size() == 6);  // all but kExternal
  CHECK(model.skeleton.ByteSizeLong() < 40'000);
}

TEST_CASE("writing shares the store's bytes instead of copying them", "[model]") {
  const ReadModel model = read_or_fail(serialize(model_with_everything()));
  const WrittenModel written = write_or_fail(model);
  const std::span<const std::uint8_t> store = model.store->find("model");
  std::uint64_t shared = 0;
  for (const std::span<const std::uint8_t> piece : written.model.pieces()) {
    const std::less_equal<> before;
    if (before(store.data(), piece.data()) &&
        before(piece.data() + piece.size(), store.data() + store.size())) {
      shared += piece.size();
    } else {
      CHECK(piece.size() < 40'000);
    }
  }
  CHECK(shared > 100'000);
}

TEST_CASE("weights in a data file read back as the same tensors", "[model]") {
  onnx::ModelProto original = model_with_everything();
  const ReadModel model = read_or_fail(serialize(original));
  const WrittenModel written = write_or_fail(model, {WeightPlacement::kExternalFile, "m.onnx.data"});
  CHECK(written.model.size() < 60'000);

  ReadModel again = read_or_fail(written.model.flatten(), {{"m.onnx.data", written.external_data.flatten()}});
  REQUIRE(again.external_files.size() == 1);
  CHECK(again.external_files[0].location == "m.onnx.data");
  CHECK(again.external_files[0].min_bytes == written.external_data.size());

  std::vector<const onnx::TensorProto*> originals;
  each_tensor(original, [&](onnx::TensorProto& tensor) { originals.push_back(&tensor); });
  std::size_t at = 0;
  each_tensor(again.skeleton, [&](onnx::TensorProto& tensor) {
    const onnx::TensorProto& before = *originals.at(at++);
    INFO(before.name());
    const std::optional<StoredTensor> where = stored_tensor(tensor);
    if (!where) {
      CHECK(tensor.SerializeAsString() == before.SerializeAsString());
      return;
    }
    CHECK(where->offset % 64 == 0);
    CHECK(where->field == TensorField::kExternal);
    const auto bytes = stored_bytes(*again.store, *where);
    if (before.has_raw_data()) {
      const auto* raw = reinterpret_cast<const std::uint8_t*>(before.raw_data().data());
      CHECK(Bytes(bytes.begin(), bytes.end()) == Bytes(raw, raw + before.raw_data().size()));
    } else if (before.int64_data_size() > 0) {
      REQUIRE(bytes.size() == 8 * static_cast<std::size_t>(before.int64_data_size()));
      CHECK(std::memcmp(bytes.data(), before.int64_data().data(), bytes.size()) == 0);
    } else if (before.data_type() == onnx::TensorProto::INT8) {
      REQUIRE(bytes.size() == static_cast<std::size_t>(before.int32_data_size()));
      for (int i = 0; i < before.int32_data_size(); ++i) {
        CHECK(static_cast<std::int8_t>(bytes[static_cast<std::size_t>(i)]) == before.int32_data(i));
      }
    } else if (before.float_data_size() > 0) {
      REQUIRE(bytes.size() == 4 * static_cast<std::size_t>(before.float_data_size()));
      CHECK(std::memcmp(bytes.data(), before.float_data().data(), bytes.size()) == 0);
    }
  });
  CHECK(at == originals.size());
}

TEST_CASE("references into the store keep plain bytes where they are", "[model]") {
  ReadModel model = read_or_fail(serialize(model_with_everything()));
  const WrittenModel written = write_or_fail(model, {WeightPlacement::kStoreReferences, ""});
  CHECK(written.external_data.size() == 0);
  onnx::ModelProto parsed;
  const Bytes file = written.model.flatten();
  REQUIRE(parsed.ParseFromArray(file.data(), static_cast<int>(file.size())));
  std::vector<StoredTensor> stored;
  each_tensor(model.skeleton, [&](onnx::TensorProto& tensor) {
    stored.push_back(stored_tensor(tensor).value_or(StoredTensor{"", 0, 0, TensorField::kRawData}));
  });
  std::size_t at = 0;
  std::set<TensorField> fields;
  each_tensor(parsed, [&](onnx::TensorProto& tensor) {
    const StoredTensor& where = stored.at(at++);
    INFO(tensor.name());
    const bool plain = where.length != 0 && is_plain(where.field);
    REQUIRE((tensor.data_location() == onnx::TensorProto::EXTERNAL) == plain);
    if (!plain) return;
    fields.insert(where.field);
    REQUIRE(tensor.external_data_size() == 3);
    CHECK(tensor.external_data(0).key() == "location");
    CHECK(tensor.external_data(0).value() == "model");
    CHECK(tensor.external_data(1).key() == "offset");
    CHECK(tensor.external_data(1).value() == std::to_string(where.offset));
    CHECK(tensor.external_data(2).key() == "length");
    CHECK(tensor.external_data(2).value() == std::to_string(where.length));
  });
  CHECK(fields == std::set{TensorField::kRawData, TensorField::kFloatData, TensorField::kDoubleData});
}

TEST_CASE("data that isn't in one piece stays inside and keeps its meaning", "[model]") {
  onnx::ModelProto model = minimal_model();
  onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
  *tensor = typed_floats("w", 1000);
  const std::string whole = tensor->SerializeAsString();
  tensor->Clear();
  tensor->add_dims(1000);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->set_name("w");
  std::string wire = model.SerializeAsString();

  // The tensor again, its floats as two packed chunks and five single ones.
  const onnx::TensorProto floats = typed_floats("w", 1000);
  const auto float_bytes = [&](int first, int count) {
    return std::string_view(reinterpret_cast<const char*>(floats.float_data().data() + first),
                            static_cast<std::size_t>(count) * 4);
  };
  std::string parts = tensor->SerializeAsString();
  append_text_field(parts, 4, float_bytes(0, 600));
  append_text_field(parts, 4, float_bytes(600, 395));
  for (int i = 995; i < 1000; ++i) {
    append_tag(parts, 4, WireType::kFixed32);
    parts.append(float_bytes(i, 1));
  }
  onnx::ModelProto frame = minimal_model();
  std::string graph = frame.graph().SerializeAsString();
  append_text_field(graph, 5, parts);
  frame.clear_graph();
  wire = frame.SerializeAsString();
  append_text_field(wire, 7, graph);

  const ReadModel split = read_or_fail({wire.begin(), wire.end()});
  CHECK_FALSE(stored_tensor(split.skeleton.graph().initializer(0)));
  CHECK(split.skeleton.graph().initializer(0).SerializeAsString() == whole);
}

TEST_CASE("of a repeated raw_data the last one counts, as for protobuf", "[model]") {
  const std::size_t last_bytes = GENERATE(std::size_t{2048}, std::size_t{16});
  onnx::TensorProto head;
  head.add_dims(static_cast<std::int64_t>(last_bytes));
  head.set_data_type(onnx::TensorProto::UINT8);
  const Bytes first = pattern(4096, 1);
  const Bytes last = pattern(last_bytes, 2);
  std::string tensor = head.SerializeAsString();
  append_text_field(tensor, 9, {reinterpret_cast<const char*>(first.data()), first.size()});
  append_text_field(tensor, 8, "twice");
  append_text_field(tensor, 9, {reinterpret_cast<const char*>(last.data()), last.size()});
  onnx::ModelProto frame = minimal_model();
  std::string graph = frame.graph().SerializeAsString();
  append_text_field(graph, 5, tensor);
  frame.clear_graph();
  std::string wire = frame.SerializeAsString();
  append_text_field(wire, 7, graph);

  const ReadModel model = read_or_fail({wire.begin(), wire.end()});
  CHECK(stored_tensor(model.skeleton.graph().initializer(0)).has_value() == (last_bytes > kInlineLimitBytes));
  const Bytes written = write_or_fail(model).model.flatten();
  onnx::ModelProto parsed;
  REQUIRE(parsed.ParseFromArray(written.data(), static_cast<int>(written.size())));
  const std::string& raw = parsed.graph().initializer(0).raw_data();
  CHECK(Bytes(raw.begin(), raw.end()) == last);
  CHECK(parsed.graph().initializer(0).name() == "twice");
}

TEST_CASE("a model without tensors, and one without nodes, come back byte by byte", "[model]") {
  onnx::ModelProto model = minimal_model();
  const Bytes file = serialize(model);
  CHECK(write_or_fail(read_or_fail(file)).model.flatten() == file);
  model.mutable_graph()->clear_node();
  const Bytes empty = serialize(model);
  CHECK(write_or_fail(read_or_fail(empty)).model.flatten() == empty);
}

TEST_CASE("names of any bytes come back as they were", "[model]") {
  onnx::ModelProto model = minimal_model();
  for (const std::string& name :
       {std::string("\0\x01\n\r\x1b[31m", 8), std::string("<img src=x onerror=alert(1)>"),
        std::string("\xff\xfe\xc3"), std::string(5000, 'n')}) {
    onnx::NodeProto* node = model.mutable_graph()->add_node();
    node->set_name(name);
    node->set_op_type("Identity");
    node->add_input(name);
    *model.mutable_graph()->add_initializer() = raw_floats(name, 600);
  }
  const Bytes file = serialize(model);
  CHECK(write_or_fail(read_or_fail(file)).model.flatten() == file);
}

}  // namespace
}  // namespace halftone::test
