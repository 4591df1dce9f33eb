// Puts Q/DQ pairs, integer weights and their simulations into a model under edit, with the contract's names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/editor.h"
#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

// Errors: kInvalidPolicy unless `encoding` is one for `site`: its format, one scale for the tensor or one per
// index of the axis, as many zero points, all scales finite and positive.
Result<void> check_encoding(const Graph& graph, const Site& site, const Encoding& encoding);

// Whether a site is at the edge of the model so that codes can cross it: a quantized activation that is a
// graph input which only the site's consumers read, or that serves a graph output. No body of control flow
// may read it.
bool is_direct(const Graph& graph, const Site& site);

// Precondition of all members: check_plan and check_encoding passed, and `editor` edits `model`.
class QdqWriter {
 public:
  QdqWriter(const Model& model, ModelEditor& editor) : model_(model), editor_(editor) {}

  // QuantizeLinear and DequantizeLinear directly behind the producer (graph inputs and initializers: at the
  // front), and the site's consumers read the latter. A graph output stays what its node makes, unless the
  // site serves it: then its node makes T_QuantizeLinear_Input, which all other readers keep reading, and
  // DequantizeLinear makes T.
  Result<void> add_pair(const Site& site, const Encoding& encoding);
  // The pair alone, which nothing reads yet; answers what DequantizeLinear makes.
  Result<std::string> add_aside(const Site& site, const Encoding& encoding);
  // add_pair without the half of the pair that the model's caller can do: a graph input takes codes, a graph
  // output gives them. Precondition: is_direct.
  Result<void> add_direct(const Site& site, const Encoding& encoding);
  // An initializer of codes behind a DequantizeLinear at the front, for a weight or a bias; a bias gets no
  // zero point.
  Result<void> add_integer_constant(const Site& site, const Encoding& encoding);
  // The same as add_pair and add_simulated_constant, but for a Where that takes what the site's consumers
  // read today where the bool tensor `gate` is false.
  Result<void> add_gated_pair(const Site& site, const Encoding& encoding, const std::string& gate);
  Result<void> add_gated_constant(const Site& site, const Encoding& encoding, const std::string& gate);
  // The site's consumers read a float initializer with the values float32(code - zero_point) * scale.
  Result<void> add_simulated_constant(const Site& site, const Encoding& encoding);

 private:
  // The names of a site's parameters, once they are in the model.
  struct Parameters {
    std::string scale;
    std::string zero_point;  // empty: not written
  };
  Result<Parameters> add_parameters(const std::string& prefix, const Encoding& encoding,
                                    bool with_zero_point);
  // `output` empty: <tensor>_<op>_Output.
  NewNode linear_node(std::string_view op, const Site& site, const Encoding& encoding, std::string input,
                      const Parameters& parameters, std::string output = "");
  Result<std::string> add_simulated_values(const Site& site, const Encoding& encoding);
  NewNode choice(const Site& site, const std::string& gate, std::string on, std::string off,
                 std::string output);
  void redirect(const Site& site, const std::string& tensor);
  std::string free_output(const Site& site);
  void insert(const Site& site, NewNode node);

  const Model& model_;
  ModelEditor& editor_;
};

}  // namespace halftone
