#include "plan/qdq_writer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "halftone/code_bytes.h"
#include "plan/constant_codes.h"
#include "plan/wording.h"

namespace halftone {
namespace {

Error misfit(const Site& site, const std::string& what) {
  return Error{ErrorCode::kInvalidPolicy, "The encoding of " + quoted(site.tensor) + " " + what + ".",
               printable(site.tensor), "Calibrate again with this plan."};
}

// What the contract calls a constant's integer copy is its own name with a suffix; a bias's scale belongs to
// that copy.
std::string quantized_name(const Site& site) { return site.tensor + "_quantized"; }

}  // namespace

Result<void> check_encoding(const Graph& graph, const Site& site, const Encoding& encoding) {
  if (encoding.format != site.format) {
    return misfit(site, "is for " + std::string(number_format_info(encoding.format).name) +
                            ", but the plan wants " + std::string(number_format_info(site.format).name));
  }
  const bool per_channel = site.granularity == Granularity::kChannel;
  if (per_channel ? encoding.axis != site.axis : encoding.axis >= 0)
    return misfit(site, "lies along another axis than planned");
  std::size_t expected = 1;
  if (per_channel) {
    const TensorId id = graph.find_tensor(site.tensor);
    const auto& shape = graph.tensor(id).shape;
    expected = static_cast<std::size_t>((*shape)[static_cast<std::size_t>(site.axis)].value);
  }
  if (encoding.scale.size() != expected) {
    return misfit(site, "has " + std::to_string(encoding.scale.size()) + " scales where the tensor needs " +
                            std::to_string(expected));
  }
  if (encoding.zero_point.size() != expected) return misfit(site, "has not as many zero points as scales");
  const auto bad_scale = [](float scale) { return !std::isfinite(scale) || !(scale > 0.0F); };
  if (std::any_of(encoding.scale.begin(), encoding.scale.end(), bad_scale)) {
    return misfit(site, "has a scale that is not a positive number");
  }
  const NumberFormatInfo& format = number_format_info(site.format);
  const auto bad_zero_point = [&](std::int32_t code) {
    return code < format.lowest || code > format.highest;
  };
  if (std::any_of(encoding.zero_point.begin(), encoding.zero_point.end(), bad_zero_point)) {
    return misfit(site, "has a zero point that " + std::string(format.name) + " can't hold");
  }
  const bool bias = site.role == Role::kBias;
  if (bias && std::any_of(encoding.zero_point.begin(), encoding.zero_point.end(),
                          [](std::int32_t code) { return code != 0; })) {
    return misfit(site, "has a zero point, which a bias can't have");
  }
  return {};
}

bool is_direct(const Graph& graph, const Site& site) {
  if (!site.quantized || site.role != Role::kActivation) return false;
  const GraphTensor& tensor = graph.tensor(graph.find_tensor(site.tensor));
  if (tensor.read_by_subgraph) return false;
  if (tensor.graph_output) return site.serves_output;
  return tensor.graph_input && tensor.consumers.size() == site.consumers.size();
}

Result<QdqWriter::Parameters> QdqWriter::add_parameters(const std::string& prefix, const Encoding& encoding,
                                                        bool with_zero_point) {
  std::vector<std::int64_t> dims;
  if (encoding.axis >= 0) dims.push_back(static_cast<std::int64_t>(encoding.scale.size()));
  Parameters parameters;
  parameters.scale = editor_.fresh_name(prefix + "_scale");
  Result<void> added =
      editor_.add_initializer(parameters.scale, DataType::kFloat, dims, float_bytes(encoding.scale));
  if (added.ok() && with_zero_point) {
    parameters.zero_point = editor_.fresh_name(prefix + "_zero_point");
    added = editor_.add_initializer(parameters.zero_point, number_format_info(encoding.format).onnx_type,
                                    dims, code_bytes(encoding.format, encoding.zero_point));
  }
  if (!added.ok()) return added.error();
  return parameters;
}

NewNode QdqWriter::linear_node(std::string_view op, const Site& site, const Encoding& encoding,
                               std::string input, const Parameters& parameters, std::string output) {
  const std::string base = site.tensor + "_" + std::string(op);
  NewNode node;
  node.op_type = std::string(op);
  node.name = editor_.fresh_name(base);
  node.inputs = {std::move(input), parameters.scale};
  if (!parameters.zero_point.empty()) node.inputs.push_back(parameters.zero_point);
  node.outputs = {output.empty() ? editor_.fresh_name(base + "_Output") : std::move(output)};
  if (encoding.axis >= 0) node.attributes.emplace_back("axis", static_cast<std::int64_t>(encoding.axis));
  return node;
}

void QdqWriter::redirect(const Site& site, const std::string& tensor) {
  for (const Consumer& consumer : site.consumers) {
    editor_.redirect_input({model_.graph().find_node(consumer.node), consumer.input}, tensor);
  }
}

// Gives what the producer of a graph output makes another name, so that the output's own is free, and returns
// it. Readers that are none of the site's follow.
std::string QdqWriter::free_output(const Site& site) {
  const Graph& graph = model_.graph();
  const GraphTensor& tensor = graph.tensor(graph.find_tensor(site.tensor));
  std::string name = editor_.fresh_name(site.tensor + "_QuantizeLinear_Input");
  editor_.rename_output(tensor.producer, tensor.producer_output, name);
  std::set<std::pair<NodeId, std::int32_t>> quantized;
  for (const Consumer& consumer : site.consumers)
    quantized.emplace(graph.find_node(consumer.node), consumer.input);
  for (const Use use : tensor.consumers) {
    if (!quantized.contains({use.node, use.input})) editor_.redirect_input(use, name);
  }
  return name;
}

void QdqWriter::insert(const Site& site, NewNode node) {
  const Graph& graph = model_.graph();
  const NodeId producer = graph.tensor(graph.find_tensor(site.tensor)).producer;
  if (producer == kNone) {
    editor_.insert_front(std::move(node));
  } else {
    editor_.insert_after(producer, std::move(node));
  }
}

Result<void> QdqWriter::add_pair(const Site& site, const Encoding& encoding) {
  // The zero point carries the type of QuantizeLinear's output, so it is written even where it is 0.
  const Result<Parameters> parameters = add_parameters(site.tensor, encoding, true);
  if (!parameters.ok()) return parameters.error();
  const std::string source = site.serves_output ? free_output(site) : site.tensor;
  NewNode quantize = linear_node("QuantizeLinear", site, encoding, source, parameters.value());
  NewNode dequantize = linear_node("DequantizeLinear", site, encoding, quantize.outputs.front(),
                                   parameters.value(), site.serves_output ? site.tensor : "");
  redirect(site, dequantize.outputs.front());
  insert(site, std::move(quantize));
  insert(site, std::move(dequantize));
  return {};
}

Result<std::string> QdqWriter::add_aside(const Site& site, const Encoding& encoding) {
  const Result<Parameters> parameters = add_parameters(site.tensor, encoding, true);
  if (!parameters.ok()) return parameters.error();
  NewNode quantize = linear_node("QuantizeLinear", site, encoding, site.tensor, parameters.value());
  NewNode dequantize =
      linear_node("DequantizeLinear", site, encoding, quantize.outputs.front(), parameters.value());
  std::string made = dequantize.outputs.front();
  insert(site, std::move(quantize));
  insert(site, std::move(dequantize));
  return made;
}

Result<void> QdqWriter::add_direct(const Site& site, const Encoding& encoding) {
  const Result<Parameters> parameters = add_parameters(site.tensor, encoding, true);
  if (!parameters.ok()) return parameters.error();
  editor_.set_element_type(model_.graph().find_tensor(site.tensor),
                           number_format_info(site.format).onnx_type);
  if (site.serves_output)
    insert(site,
           linear_node("QuantizeLinear", site, encoding, free_output(site), parameters.value(), site.tensor));
  if (site.consumers.empty()) return {};
  NewNode dequantize = linear_node("DequantizeLinear", site, encoding, site.tensor, parameters.value());
  redirect(site, dequantize.outputs.front());
  insert(site, std::move(dequantize));
  return {};
}

Result<void> QdqWriter::add_integer_constant(const Site& site, const Encoding& encoding) {
  Result<ConstantCodes> codes = constant_codes(model_, site, encoding);
  if (!codes.ok()) return codes.error();
  const bool bias = site.role == Role::kBias;
  const std::string name = editor_.fresh_name(quantized_name(site));
  Result<void> added = editor_.add_initializer(name, number_format_info(site.format).onnx_type,
                                               std::move(codes.value().dims), std::move(codes.value().bytes));
  if (!added.ok()) return added;
  const Result<Parameters> parameters =
      add_parameters(bias ? quantized_name(site) : site.tensor, encoding, !bias);
  if (!parameters.ok()) return parameters.error();
  NewNode dequantize = linear_node("DequantizeLinear", site, encoding, name, parameters.value());
  redirect(site, dequantize.outputs.front());
  editor_.insert_front(std::move(dequantize));
  return {};
}

Result<std::string> QdqWriter::add_simulated_values(const Site& site, const Encoding& encoding) {
  Result<ConstantCodes> values = simulated_values(model_, site, encoding);
  if (!values.ok()) return values.error();
  std::string name = editor_.fresh_name(site.tensor + "_simulated");
  const Result<void> added = editor_.add_initializer(name, DataType::kFloat, std::move(values.value().dims),
                                                     std::move(values.value().bytes));
  if (!added.ok()) return added.error();
  return name;
}

Result<void> QdqWriter::add_simulated_constant(const Site& site, const Encoding& encoding) {
  const Result<std::string> name = add_simulated_values(site, encoding);
  if (!name.ok()) return name.error();
  redirect(site, name.value());
  return {};
}

NewNode QdqWriter::choice(const Site& site, const std::string& gate, std::string on, std::string off,
                          std::string output) {
  NewNode node;
  node.op_type = "Where";
  node.name = editor_.fresh_name(site.tensor + "_Where");
  node.inputs = {gate, std::move(on), std::move(off)};
  node.outputs = {output.empty() ? editor_.fresh_name(site.tensor + "_Where_Output") : std::move(output)};
  return node;
}

Result<void> QdqWriter::add_gated_pair(const Site& site, const Encoding& encoding, const std::string& gate) {
  const Result<Parameters> parameters = add_parameters(site.tensor, encoding, true);
  if (!parameters.ok()) return parameters.error();
  const std::string source = site.serves_output ? free_output(site) : site.tensor;
  NewNode quantize = linear_node("QuantizeLinear", site, encoding, source, parameters.value());
  NewNode dequantize =
      linear_node("DequantizeLinear", site, encoding, quantize.outputs.front(), parameters.value());
  NewNode where =
      choice(site, gate, dequantize.outputs.front(), source, site.serves_output ? site.tensor : "");
  redirect(site, where.outputs.front());
  insert(site, std::move(quantize));
  insert(site, std::move(dequantize));
  insert(site, std::move(where));
  return {};
}

Result<void> QdqWriter::add_gated_constant(const Site& site, const Encoding& encoding,
                                           const std::string& gate) {
  const Result<std::string> simulated = add_simulated_values(site, encoding);
  if (!simulated.ok()) return simulated.error();
  NewNode where = choice(site, gate, simulated.value(), site.tensor, "");
  redirect(site, where.outputs.front());
  insert(site, std::move(where));
  return {};
}

}  // namespace halftone
