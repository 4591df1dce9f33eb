// Edits: what they change, what they leave alone, what they share.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "halftone/editor.h"
#include "model/model_data.h"
#include "model/text_models.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

std::vector<std::uint8_t> float_bytes(std::initializer_list<float> values) {
  return bytes_of(std::vector<float>(values));
}

std::shared_ptr<const Model> finish(ModelEditor& editor) {
  Result<std::shared_ptr<const Model>> made = std::move(editor).finish();
  INFO((made.ok() ? std::string() : made.error().message));
  REQUIRE(made.ok());
  return made.value();
}

// Q and DQ on the tensor `name`, for all of its consumers.
void quantize(ModelEditor& editor, const Model& base, const std::string& name) {
  const GraphTensor& target = tensor(base, name);
  const std::string scale = editor.fresh_name(name + "_scale");
  const std::string zero = editor.fresh_name(name + "_zero_point");
  const std::string codes = editor.fresh_name(name + "_QuantizeLinear_Output");
  const std::string back = editor.fresh_name(name + "_DequantizeLinear_Output");
  REQUIRE(editor.add_initializer(scale, DataType::kFloat, {}, float_bytes({0.5F})).ok());
  REQUIRE(editor.add_initializer(zero, DataType::kUint8, {}, {128}).ok());
  const NewNode q{"QuantizeLinear", "", name + "_QuantizeLinear", {name, scale, zero}, {codes}, {}};
  const NewNode dq{"DequantizeLinear", "", name + "_DequantizeLinear", {codes, scale, zero}, {back}, {}};
  if (target.producer == kNone) {
    editor.insert_front(q);
    editor.insert_front(dq);
  } else {
    editor.insert_after(target.producer, q);
    editor.insert_after(target.producer, dq);
  }
  for (const Use& use : target.consumers) editor.redirect_input(use, back);
}

onnx::ModelProto two_layers() {
  onnx::ModelProto model = parse_text(R"(<ir_version: 8, opset_import: ["" : 13], producer_name: "maker",
      metadata_props: ["author" : "me"]>
    g (float[1,2] x) => (float[1,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {5, 6, 7, 8}, float[2] unused = {9, 9}>
    { h = MatMul(x, w)  r = Relu(h)  y = MatMul(r, v) })");
  name_nodes(model, {"first", "act", "second"});
  return model;
}

TEST_CASE("Q and DQ pairs go where they are put, and the result is a sound model", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  quantize(editor, *base, "x");
  quantize(editor, *base, "r");
  const auto made = finish(editor);
  CHECK(node_texts(*made) == Texts{"QuantizeLinear>x_QuantizeLinear_Output",
                                   "DequantizeLinear>x_DequantizeLinear_Output", "MatMul>h", "Relu>r",
                                   "QuantizeLinear>r_QuantizeLinear_Output",
                                   "DequantizeLinear>r_DequantizeLinear_Output", "MatMul>y"});
  CHECK(objection(made) == "");
  CHECK(type_text(*made, "x_QuantizeLinear_Output") == "uint8[1,2]");
  CHECK(type_text(*made, "r_DequantizeLinear_Output") == "float32[1,2]");
  CHECK(type_text(*made, "h") == "float32[1,2]");
  CHECK(made->info().quantized_pairs == 2);
  CHECK(made->info().file_bytes == 0);
  CHECK(made->info().producer_name == "maker");
  // The base is what it was.
  CHECK(node_texts(*base) == Texts{"MatMul>h", "Relu>r", "MatMul>y"});
  CHECK(base->graph().node(2).inputs[0] == base->graph().find_tensor("r"));
}

TEST_CASE("an edit without changes gives the same model", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  CHECK(written(finish(editor)).SerializeAsString() == written(base).SerializeAsString());
}

TEST_CASE("a graph output keeps its name when its producer is quantized", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  REQUIRE(editor.add_initializer("s", DataType::kFloat, {}, float_bytes({0.5F})).ok());
  const std::string raw = editor.fresh_name("y_QuantizeLinear_Input");
  editor.rename_output(2, 0, raw);
  editor.insert_after(2, {"QuantizeLinear", "", "", {raw, "s"}, {"y_codes"}, {}});
  editor.insert_after(2, {"DequantizeLinear", "", "", {"y_codes", "s"}, {"y"}, {}});
  const auto made = finish(editor);
  CHECK(node_texts(*made) == Texts{"MatMul>h", "Relu>r", "MatMul>y_QuantizeLinear_Input",
                                   "QuantizeLinear>y_codes", "DequantizeLinear>y"});
  CHECK(objection(made) == "");
  CHECK(type_text(*made, "y_QuantizeLinear_Input") == "float32[1,2]");
  CHECK(tensor(*made, "y").graph_output);
}

TEST_CASE("nodes stand in the order of the calls at each place", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  const auto relu = [](const char* from, const char* to) {
    return NewNode{"Relu", "", "", {from}, {to}, {}};
  };
  editor.insert_before(kNone, relu("y", "end1"));
  editor.insert_before(1, relu("h", "before1"));
  editor.insert_front(relu("x", "front1"));
  editor.insert_after(1, relu("r", "after1"));
  editor.insert_before(1, relu("before1", "before2"));
  editor.insert_after(1, relu("after1", "after2"));
  editor.insert_front(relu("front1", "front2"));
  editor.insert_before(kNone, relu("end1", "end2"));
  const auto made = finish(editor);
  CHECK(node_texts(*made) == Texts{"Relu>front1", "Relu>front2", "MatMul>h", "Relu>before1", "Relu>before2",
                                   "Relu>r", "Relu>after1", "Relu>after2", "MatMul>y", "Relu>end1",
                                   "Relu>end2"});
  CHECK(type_text(*made, "end2") == "float32[1,2]");
}

TEST_CASE("fresh names avoid every tensor and node, in bodies too, and each other", "[model][editor]") {
  onnx::ModelProto proto =
      parse_text(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] inner) { inner = Relu(x) }, else_branch = e () => (float[2] q) { q = Relu(x) }>
    })");
  name_nodes(proto, {"branch"});
  ModelEditor editor(open_proto(proto));
  CHECK(editor.fresh_name("free") == "free");
  CHECK(editor.fresh_name("free") == "free_1");
  CHECK(editor.fresh_name("inner") == "inner_1");
  CHECK(editor.fresh_name("branch") == "branch_1");
  CHECK(editor.fresh_name("x") == "x_1");
  CHECK(editor.fresh_name("x") == "x_2");
  CHECK(editor.add_initializer("free", DataType::kFloat, {}, float_bytes({1})).ok());
  CHECK_FALSE(editor.add_initializer("free", DataType::kFloat, {}, float_bytes({1})).ok());
  CHECK_FALSE(editor.add_initializer("inner", DataType::kFloat, {}, float_bytes({1})).ok());
  CHECK_FALSE(editor.add_initializer("", DataType::kFloat, {}, float_bytes({1})).ok());
}

TEST_CASE("a new tensor must fit its type and dims", "[model][editor]") {
  ModelEditor editor(open_proto(two_layers()));
  CHECK(editor.add_initializer("a", DataType::kInt4, {3}, {1, 2}).ok());
  const Result<void> bad = editor.add_initializer("b", DataType::kFloat, {2}, {1, 2, 3});
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().code == ErrorCode::kInvalidGraph);
  CHECK_FALSE(editor.add_initializer("c", DataType::kFloat, {-1}, {}).ok());
  CHECK_FALSE(editor.add_initializer("d", DataType::kString, {0}, {}).ok());
}

TEST_CASE("a constant goes with its last reader; what nobody read before stays", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  REQUIRE(editor.add_initializer("w_new", DataType::kFloat, {2, 2}, float_bytes({4, 3, 2, 1})).ok());
  editor.redirect_input({0, 1}, "w_new");
  const auto made = finish(editor);
  CHECK(made->graph().find_tensor("w") == kNone);
  CHECK(tensor(*made, "unused").initializer);
  CHECK(tensor(*made, "v").initializer);
  CHECK(written(made).graph().initializer_size() == 3);
  CHECK(objection(made) == "");
}

TEST_CASE("chains over constants go too, but not while anything reads them", "[model][editor]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x, bool c) => (float[2,2] y, float[2,2] z, float[2,2] u)
    <float[2,3] w = {1,2,3,4,5,6}, int64[2] shape = {3, 2}> {
      k = Constant<value = float[2,3] {1,2,3,4,5,6}>()
      wt = Transpose(w)
      kr = Reshape(k, shape)
      y = MatMul(x, wt)
      z = MatMul(x, kr)
      u = If(c) <then_branch = t () => (float[2,2] p) { p = MatMul(x, wt) }, else_branch = e () => (float[2,2] q) { q = MatMul(x, wt) }>
    })");
  const auto base = open_proto(proto);
  ModelEditor editor(base);
  REQUIRE(editor.add_initializer("m", DataType::kFloat, {3, 2}, float_bytes({1, 2, 3, 4, 5, 6})).ok());
  editor.redirect_input({3, 1}, "m");
  editor.redirect_input({4, 1}, "m");
  const auto made = finish(editor);
  // `wt` is still read by the bodies; `k`, `kr` and `shape` are gone.
  CHECK(node_texts(*made) == Texts{"Transpose>wt", "MatMul>y", "MatMul>z", "If>u"});
  CHECK(made->graph().find_tensor("shape") == kNone);
  CHECK(tensor(*made, "w").initializer);
  CHECK(objection(made) == "");
}

TEST_CASE("a constant that a new node reads stays", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  editor.insert_front({"Neg", "", "", {"w"}, {"w_neg"}, {}});
  editor.redirect_input({0, 1}, "w_neg");
  const auto made = finish(editor);
  CHECK(tensor(*made, "w").initializer);
  CHECK(type_text(*made, "w_neg") == "float32[2,2]");
}

TEST_CASE("the last redirection of an input counts", "[model][editor]") {
  const auto base = open_proto(two_layers());
  ModelEditor editor(base);
  editor.redirect_input({0, 1}, "v");
  editor.redirect_input({0, 1}, "w");
  const auto made = finish(editor);
  CHECK(made->graph().node(0).inputs[1] == made->graph().find_tensor("w"));
  CHECK(tensor(*made, "v").initializer);
}

TEST_CASE("removing a node takes its constants and declarations along", "[model][editor]") {
  onnx::ModelProto proto = two_layers();
  onnx::ValueInfoProto& info = *proto.mutable_graph()->add_value_info();
  info = proto.graph().output(0);
  info.set_name("r");
  *proto.mutable_graph()->add_value_info() = info;
  proto.mutable_graph()->mutable_value_info(1)->set_name("h");
  const auto base = open_proto(proto);
  ModelEditor editor(base);
  editor.remove_node(1);
  editor.redirect_input({2, 0}, "h");
  const auto made = finish(editor);
  CHECK(node_texts(*made) == Texts{"MatMul>h", "MatMul>y"});
  REQUIRE(written(made).graph().value_info_size() == 1);
  CHECK(written(made).graph().value_info(0).name() == "h");
  CHECK(objection(made) == "");
}

TEST_CASE("attributes, outputs and metadata are set", "[model][editor]") {
  onnx::ModelProto proto =
      parse_text(R"(<ir_version: 8, opset_import: ["" : 13], metadata_props: ["author" : "me"]>
    g (float[2,2] x) => (float[2,2] y) { t = Transpose<perm = [0, 1]>(x)  y = LeakyRelu(t) })");
  const auto base = open_proto(proto);
  ModelEditor editor(base);
  editor.set_attribute(0, "perm", std::vector<std::int64_t>{1, 0});
  editor.set_attribute(1, "alpha", 0.25F);
  editor.add_graph_output({"t", DataType::kUndefined, std::nullopt});
  editor.add_graph_output({"y", DataType::kFloat, std::nullopt});  // is one already
  editor.set_metadata("author", "you");
  editor.set_metadata("tool", "halftone");
  editor.set_metadata("producer_name", "halftone");
  editor.set_metadata("producer_version", "1");
  const auto made = finish(editor);
  CHECK(made->graph().attribute(0, "perm")->ints[0] == 1);
  CHECK(made->graph().float_attribute(1, "alpha", 0) == 0.25F);
  REQUIRE(made->graph().outputs().size() == 2);
  CHECK(tensor(*made, "t").graph_output);
  CHECK_FALSE(written(made).graph().output(1).has_type());
  CHECK(made->info().metadata ==
        std::vector<std::pair<std::string, std::string>>{{"author", "you"}, {"tool", "halftone"}});
  CHECK(made->info().producer_name == "halftone");
  CHECK(made->info().producer_version == "1");
}

TEST_CASE("functions, unknown fields and annotations survive an edit", "[model][editor]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (float[2] y) { a = own.f(x)  y = Relu(a) }
    <domain: "own", opset_import: ["" : 17]> f(i) => (o) { o = Relu(i) })");
  std::string wire = proto.SerializeAsString();
  wire += std::string("\xFA\x7F\x05") + "extra";  // field 2047, which no version has
  REQUIRE(proto.ParseFromString(wire));
  for (const char* name : {"a", "y"})
    proto.mutable_graph()->add_quantization_annotation()->set_tensor_name(name);
  const auto base = open_proto(proto);
  ModelEditor editor(base);
  editor.remove_node(1);
  editor.rename_output(0, 0, "y");
  const onnx::ModelProto made = written(finish(editor));
  CHECK(made.functions_size() == 1);
  CHECK(made.SerializeAsString().find("extra") != std::string::npos);
  REQUIRE(made.graph().quantization_annotation_size() == 1);
  CHECK(made.graph().quantization_annotation(0).tensor_name() == "y");
}

TEST_CASE("weights are shared, and new ones go with the model that has them", "[model][editor]") {
  onnx::ModelProto proto = two_layers();
  onnx::TensorProto& big = *proto.mutable_graph()->add_initializer();
  big.set_name("big");
  big.set_data_type(onnx::TensorProto::FLOAT);
  big.add_dims(1000);
  big.set_raw_data(std::string(4000, 'b'));
  const auto base = open_proto(proto);
  const auto data = [](const Model& model, std::string_view name) {
    return model.constant(model.graph().find_tensor(name)).value().bytes;
  };
  std::shared_ptr<const Model> made;
  {
    ModelEditor editor(base);
    REQUIRE(
        editor.add_initializer("new_big", DataType::kInt8, {2000}, std::vector<std::uint8_t>(2000, 7)).ok());
    made = finish(editor);
  }
  CHECK(data(*made, "big").data() == data(*base, "big").data());
  CHECK(data(*made, "new_big").size() == 2000);
  CHECK(data(*made, "new_big")[1999] == 7);
  CHECK(base->buffers().size() == 1);
  REQUIRE(made->buffers().size() == 2);
  ModelEditor sibling(base);
  REQUIRE(sibling.add_initializer("other", DataType::kInt8, {1500}, std::vector<std::uint8_t>(1500, 8)).ok());
  const auto other = finish(sibling);
  REQUIRE(other->buffers().size() == 2);
  CHECK(other->buffers()[1].path != made->buffers()[1].path);
  // An edit of an edit still has both.
  ModelEditor again(made);
  REQUIRE(again.add_initializer("third", DataType::kInt8, {1100}, std::vector<std::uint8_t>(1100, 9)).ok());
  const auto third = finish(again);
  CHECK(third->buffers().size() == 3);
  CHECK(data(*third, "big").data() == data(*base, "big").data());
  CHECK(objection(third) == "");
  // Small tensors live in the skeleton.
  ModelEditor small(base);
  REQUIRE(small.add_initializer("small", DataType::kInt8, {1024}, std::vector<std::uint8_t>(1024, 1)).ok());
  CHECK(finish(small)->data()->store == base->data()->store);
}

TEST_CASE("an old model that gets initializers is raised to where they stand alone", "[model][editor]") {
  const auto base = open_text(R"(<ir_version: 3, opset_import: ["" : 10]>
    g (float[1,2] x, float[2,2] w) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) })");
  REQUIRE(base->warnings().empty());
  ModelEditor editor(base);
  quantize(editor, *base, "x");
  const auto made = finish(editor);
  CHECK(made->info().ir_version == 4);
  CHECK(warning_codes(*made) == Texts{"ir_version_raised"});
  CHECK(written(made).graph().input_size() == 1);
  CHECK(objection(made) == "");
  ModelEditor nibble(base);
  REQUIRE(nibble.add_initializer("q", DataType::kInt4, {2}, {0x21}).ok());
  CHECK(finish(nibble)->info().ir_version == 10);
}

TEST_CASE("edits that can't be are refused with a reason", "[model][editor]") {
  const auto base = open_proto(two_layers());
  const auto refuse = [&](const auto& change) {
    ModelEditor editor(base);
    change(editor);
    Result<std::shared_ptr<const Model>> made = std::move(editor).finish();
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == ErrorCode::kInvalidGraph);
    return made.error().message;
  };
  CHECK(refuse([](ModelEditor& e) {
          e.redirect_input({0, 0}, "lost");
        }).find("\"lost\"") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) { e.redirect_input({0, 0}, "y"); }).find("cycle") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) {
          e.redirect_input({9, 0}, "x");
        }).find("doesn't exist") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) {
          e.redirect_input({0, 5}, "x");
        }).find("doesn't exist") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) { e.rename_output(0, -1, "n"); }).find("doesn't exist") !=
        std::string::npos);
  CHECK(refuse([](ModelEditor& e) { e.remove_node(-5); }).find("doesn't exist") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) {
          e.insert_after(3, {"Relu", "", "", {"x"}, {"n"}, {}});
        }).find("doesn't exist") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) { e.remove_node(1); }).find("\"r\"") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) {
          e.insert_front({"Relu", "", "", {"x"}, {"h"}, {}});
        }).find("defined twice") != std::string::npos);
  CHECK(refuse([](ModelEditor& e) {
          e.insert_before(kNone, {"Relu", "", "", {"x"}, {"late"}, {}});
          e.redirect_input({0, 0}, "late");
        }).find("before a node that feeds it") != std::string::npos);
}

TEST_CASE("inputs and outputs of the graph can get another element type, and nothing else can",
          "[model][editor]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2, N] x) => (float[2, N] y) { a = Relu(x)  y = Abs(a) })");
  ModelEditor editor(base);
  const std::string scale = editor.fresh_name("scale");
  const std::string zero = editor.fresh_name("zero");
  REQUIRE(editor.add_initializer(scale, DataType::kFloat, {}, float_bytes({0.5F})).ok());
  REQUIRE(editor.add_initializer(zero, DataType::kInt8, {}, {0}).ok());
  editor.insert_front({"DequantizeLinear", "", "", {"x", scale, zero}, {"real"}, {}});
  editor.redirect_input({0, 0}, "real");
  editor.rename_output(1, 0, "raw");
  editor.insert_after(1, {"QuantizeLinear", "", "", {"raw", scale, zero}, {"y"}, {}});
  editor.set_element_type(base->graph().find_tensor("x"), DataType::kInt8);
  editor.set_element_type(base->graph().find_tensor("y"), DataType::kInt8);
  const auto made = finish(editor);
  CHECK(tensor(*made, "x").type == DataType::kInt8);
  REQUIRE(tensor(*made, "x").shape.has_value());
  CHECK(tensor(*made, "x").shape->at(1).symbol == "N");
  CHECK(tensor(*made, "real").type == DataType::kFloat);
  CHECK(tensor(*made, "raw").type == DataType::kFloat);
  CHECK(tensor(*made, "y").type == DataType::kInt8);
  CHECK(objection(made) == "");  // the library's checker, which compares declared with inferred types

  for (const TensorId id : {base->graph().find_tensor("a"), kNone, TensorId{99}}) {
    ModelEditor wrong(base);
    wrong.set_element_type(id, DataType::kInt8);
    const Result<std::shared_ptr<const Model>> refused = std::move(wrong).finish();
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kInvalidGraph);
  }
}

TEST_CASE("an edit puts nodes in order that were not", "[model][editor]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) { y = Neg(b)  b = Abs(a)  a = Relu(x) })");
  ModelEditor editor(base);
  editor.insert_after(2, {"Relu", "", "", {"a"}, {"n"}, {}});
  const auto made = finish(editor);
  CHECK(node_texts(*made) == Texts{"Relu>a", "Relu>n", "Abs>b", "Neg>y"});
  CHECK(objection(made) == "");
}

}  // namespace
}  // namespace halftone::test
