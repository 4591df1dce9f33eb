// ModelOpt's get_fusible_backbone on its documented chains.
#include "plan/tensorrt/fusible_backbone.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

// Label of the backbone of the node that makes "y"; "none" without one.
std::string backbone_of_y(const std::string& lines) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).weight("k", {32, 1, 1});
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {32});
  graph.weight("wt", {32, 32, 1, 1}).nodes(lines).output("y");
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), tensorrt::Peer::kCorrect);
  tensorrt::FusibleBackbone backbone(view);
  const NodeId found = backbone.of(model->graph().tensor(model->graph().find_tensor("y")).producer);
  return found == kNone ? "none" : model->graph().node_label(found);
}

TEST_CASE("Chains that lead back to a convolution have it as backbone", "[plan][tensorrt]") {
  CHECK(backbone_of_y("y = Conv(x, w1) #conv") == "conv");
  CHECK(backbone_of_y("y = ConvTranspose(x, wt) #up") == "up");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; y = Add(c, k)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; y = Transpose(c)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; t = Transpose(c); y = Relu(t)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; p = Mul(c, k); a = Add(p, k); y = Relu(a)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; n = BatchNormalization(c, s, b, m, v); y = Relu(n)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; n = BatchNormalization(c, s, b, m, v); r = Relu(n);"
                      "y = MaxPool(r)") == "conv");
  CHECK(backbone_of_y("c = Conv(x, w1) #conv; n = BatchNormalization(c, s, b, m, v); g = Sigmoid(n);"
                      "y = Mul(n, g)") == "conv");
}

TEST_CASE("The backbone is the first convolution of a walk through the inputs, not the one on the path",
          "[plan][tensorrt]") {
  CHECK(backbone_of_y("c1 = Conv(x, w1) #conv1; c2 = Conv(x, w2) #conv2; r = Relu(c2); y = Concat(r, c1)") ==
        "conv2");
}

TEST_CASE("Chains in another order have no backbone", "[plan][tensorrt]") {
  CHECK(backbone_of_y("c = Conv(x, w1); a = Add(c, k); y = Transpose(a)") == "none");
  CHECK(backbone_of_y("c = Conv(x, w1); a = Add(c, k); p = Mul(a, k); y = Relu(p)") == "none");
  CHECK(backbone_of_y("c = Conv(x, w1); y = Sigmoid(c)") == "none");
  CHECK(backbone_of_y("c = Conv(x, w1); r = Relu(c); y = Relu(r)") == "none");
  CHECK(backbone_of_y("c = Conv(x, w1); a = Add(c, x); y = Relu(a)") == "none");
  CHECK(backbone_of_y("c = Conv(x, w1); r = Relu(c); y = MaxPool(r)") == "none");
  CHECK(backbone_of_y("y = MatMul(x, w1)") == "none");
  CHECK(backbone_of_y("y = Relu(x)") == "none");
}

}  // namespace
}  // namespace halftone::test
