#include <algorithm>
#include <new>
#include <utility>

#include "codec/decoded_nodes.h"
#include "codec/named_error.h"
#include "codec/standard_form.h"
#include "halftone/code_bytes.h"
#include "halftone/editor.h"
#include "halftone/standard_weights.h"

namespace halftone {
namespace {

constexpr std::string_view kContribDomain = "com.microsoft";

class Standardization {
 public:
  Standardization(const std::shared_ptr<const Model>& model, const StandardOptions& options)
      : model_(model), graph_(model->graph()), options_(options), encoded_(model), editor_(model) {}

  // Records the edit.
  Result<void> convert_all() {
    if (encoded_.catalogue_fault()) return *encoded_.catalogue_fault();
    codec::DecodedNodes nodes = codec::find_decoded_nodes(graph_, encoded_);
    made_.left = std::move(nodes.left);
    for (const codec::DecodedNode& node : nodes.direct) {
      if (Result<void> converted = convert(node); !converted) return converted;
    }
    return {};
  }

  Result<StandardWeights> finish() && {
    made_.model = model_;
    if (made_.converted.empty()) return std::move(made_);
    Result<std::shared_ptr<const Model>> model = std::move(editor_).finish();
    if (!model) return model.error();
    made_.model = std::move(model).value();
    return std::move(made_);
  }

  // Of what was converted. Edits go by id, so a model that is too old is raised before, and converted anew.
  [[nodiscard]] std::int64_t opset_needed() const { return opset_needed_; }

 private:
  Result<void> convert(const codec::DecodedNode& node) {
    Result<StandardWeight> made = convert_value(node);
    if (made) {
      made.value().tensor = graph_.tensor(node.output).name;
      made.value().encoded = node.initializer->name;
      made_.converted.push_back(std::move(made).value());
      return {};
    }
    if (made.error().code != ErrorCode::kInvalidPolicy)
      return made.error().where.empty()
                 ? codec::named("encoded initializer", node.initializer->name, made.error())
                 : made.error();
    made_.left.push_back({graph_.tensor(node.output).name, made.error().message});
    return {};
  }

  Result<StandardWeight> convert_value(const codec::DecodedNode& node) {
    const Result<EncodedValue> value = encoded_.value(*node.initializer);
    if (!value) return value.error();
    if (!node.initializer->profile)
      return codec::no_equivalent("It isn't of the codec's kind, so what it stands for isn't known.");
    if (codec_profile_info(*node.initializer->profile).ort) return convert_matrix(node, value.value());
    const Result<CodecSchema> schema = encoded_value_schema(value.value(), encoded_.catalogue());
    if (!schema) return schema.error();
    const std::vector<double> table = codec::first_table(schema.value(), value.value().payload->bytes());
    const bool bnb4 =
        !schema.value().runs.empty() && codec::bnb4_type(schema.value().runs.front().layout, table);
    return bnb4 ? convert_bnb4(node, schema.value(), value.value())
                : convert_blocks(node, schema.value(), value.value());
  }

  // --- DequantizeLinear

  Result<StandardWeight> convert_blocks(const codec::DecodedNode& node, const CodecSchema& schema,
                                        const EncodedValue& value) {
    if (node.type == DataType::kDouble && !options_.round_scales)
      return codec::no_equivalent(
          "Its Dequantize makes float64, and DequantizeLinear multiplies in float32; allow rounding to "
          "convert it.");
    Result<codec::LinearWeight> linear =
        codec::linear_weight(schema, value, {options_.round_scales, options_.float4});
    return linear ? write_linear(node, std::move(linear).value()) : linear.error();
  }

  Result<StandardWeight> write_linear(const codec::DecodedNode& node, codec::LinearWeight linear) {
    const std::string& name = graph_.tensor(node.output).name;
    StandardWeight made;
    made.type = linear.type;
    made.axis = linear.grain.axis;
    made.block_size = linear.grain.block_size;
    made.rounding = linear.rounding;
    made.bytes = linear.codes.size() + linear.scales.size() * sizeof(float) + linear.zero_points.size();
    opset_needed_ = std::max(opset_needed_, linear.opset_needed());
    NewNode dequantize{"DequantizeLinear", "", editor_.fresh_name(name + "_DequantizeLinear"), {}, {}, {}};
    if (made.axis) dequantize.attributes.emplace_back("axis", *made.axis);
    if (made.block_size != 0) dequantize.attributes.emplace_back("block_size", made.block_size);
    const std::vector<std::int64_t>& dims = node.initializer->logical_type.dims;
    Result<void> added = add(dequantize, name + "_quantized", linear.type, dims, std::move(linear.codes));
    if (added)
      added = add(dequantize, name + "_scale", DataType::kFloat, linear.grain.scale_dims,
                  float_bytes(linear.scales));
    if (added && !linear.zero_points.empty())
      added = add(dequantize, name + "_zero_point", linear.type, linear.grain.scale_dims,
                  std::move(linear.zero_points));
    if (!added) return added.error();
    replace_by(node, std::move(dequantize));
    return made;
  }

  Result<void> add(NewNode& reader, const std::string& wanted, DataType type,
                   const std::vector<std::int64_t>& dims, std::vector<std::uint8_t> bytes) {
    reader.inputs.push_back(editor_.fresh_name(wanted));
    return editor_.add_initializer(reader.inputs.back(), type, dims, std::move(bytes));
  }

  // Values are float32; other types by a Cast, as the codec rounds them.
  void replace_by(const codec::DecodedNode& node, NewNode dequantize) {
    const std::string& name = graph_.tensor(node.output).name;
    editor_.remove_node(node.node);
    if (node.type == DataType::kFloat) {
      dequantize.outputs = {name};
      editor_.insert_front(std::move(dequantize));
      return;
    }
    const std::string single = editor_.fresh_name(name + "_float");
    dequantize.outputs = {single};
    editor_.insert_front(std::move(dequantize));
    editor_.insert_front({"Cast",
                          "",
                          editor_.fresh_name(name + "_Cast"),
                          {single},
                          {name},
                          {{"to", static_cast<std::int64_t>(node.type)}}});
  }

  // --- com.microsoft

  Result<StandardWeight> convert_matrix(const codec::DecodedNode& node, const EncodedValue& value) {
    const Result<MatMulNBitsInputs> inputs = export_matmul_nbits_inputs(value, encoded_.catalogue());
    if (!inputs) return inputs.error();
    const GraphTensor& weight = graph_.tensor(node.output);
    const bool fits = options_.contrib_operators && node.type == inputs.value().layout.type &&
                      !weight.consumers.empty() && codec::read_by_matmul_only(graph_, weight);
    if (fits) return write_matmul_nbits(node, inputs.value());
    if (node.type == DataType::kDouble && !options_.round_scales)
      return codec::no_equivalent("Its Dequantize makes float64, which MatMulNBits doesn't.");
    Result<codec::LinearWeight> linear = codec::linear_weight(inputs.value());
    return linear ? write_linear(node, std::move(linear).value()) : linear.error();
  }

  Result<StandardWeight> write_matmul_nbits(const codec::DecodedNode& node, const MatMulNBitsInputs& inputs) {
    const MatMulNBitsLayout& layout = inputs.layout;
    const std::string& name = graph_.tensor(node.output).name;
    const auto n = static_cast<std::int64_t>(layout.n);
    const auto groups = static_cast<std::int64_t>(layout.groups());
    StandardWeight made;
    made.form = StandardForm::kMatMulNBits;
    made.type = DataType::kUint8;
    made.axis = 0;
    made.block_size = layout.block_size;
    made.bytes = layout.payload_bytes();
    NewNode operation{"MatMulNBits", std::string(kContribDomain), {}, {""}, {}, {}};
    operation.attributes = {{"K", static_cast<std::int64_t>(layout.k)},
                            {"N", n},
                            {"bits", static_cast<std::int64_t>(layout.bits)},
                            {"block_size", static_cast<std::int64_t>(layout.block_size)}};
    const auto copy = [](std::span<const std::uint8_t> bytes) {
      return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
    };
    Result<void> added =
        add(operation, name + "_B", DataType::kUint8,
            {n, groups, static_cast<std::int64_t>(layout.group_bytes())}, copy(inputs.weights));
    if (added) added = add(operation, name + "_scales", layout.type, {n, groups}, copy(inputs.scales));
    if (added && layout.zero_points != MatMulNBitsLayout::ZeroPoints::kMidpoint) {
      const bool packed = layout.zero_points == MatMulNBitsLayout::ZeroPoints::kPacked;
      added = add(operation, name + "_zero_points", packed ? DataType::kUint8 : layout.type,
                  {n, packed ? static_cast<std::int64_t>(layout.packed_column_bytes()) : groups},
                  copy(inputs.zero_points));
    }
    if (!added) return added.error();
    editor_.remove_node(node.node);
    for (const Use& use : graph_.tensor(node.output).consumers) replace_multiplication(use.node, operation);
    return made;
  }

  Result<StandardWeight> convert_bnb4(const codec::DecodedNode& node, const CodecSchema& schema,
                                      const EncodedValue& value) {
    if (!options_.contrib_operators)
      return codec::no_equivalent(
          "Standard ONNX has no code book of its kind; com.microsoft.MatMulBnb4 has.");
    const std::optional<codec::TransposedReaders> readers =
        codec::transposed_readers(graph_, graph_.tensor(node.output));
    if (value.logical_type->dims.size() != 2 || !readers)
      return codec::no_equivalent(
          "Only com.microsoft.MatMulBnb4 has its code book, for a matrix [N, K] that is read only through "
          "its "
          "transpose by MatMul, or by Gemm with transB; encoding with transpose_matmul_weights makes such.");
    if (node.type != DataType::kFloat)
      return codec::no_equivalent("Its Dequantize makes another type than float32, which MatMulBnb4 lacks.");
    Result<codec::Bnb4Weight> weight = codec::bnb4_weight(schema, value);
    return weight ? write_bnb4(node, std::move(weight).value(), *readers) : weight.error();
  }

  Result<StandardWeight> write_bnb4(const codec::DecodedNode& node, codec::Bnb4Weight weight,
                                    const codec::TransposedReaders& readers) {
    const std::string& name = graph_.tensor(node.output).name;
    StandardWeight made;
    made.form = StandardForm::kMatMulBnb4;
    made.type = DataType::kUint8;
    made.axis = 1;
    made.block_size = weight.block_size;
    made.bytes = weight.codes.size() + weight.absmax.size() * sizeof(float);
    NewNode operation{"MatMulBnb4", std::string(kContribDomain), {}, {""}, {}, {}};
    operation.attributes = {{"K", weight.k},
                            {"N", weight.n},
                            {"block_size", weight.block_size},
                            {"quant_type", weight.quant_type}};
    const auto code_bytes = static_cast<std::int64_t>(weight.codes.size());
    const auto blocks = static_cast<std::int64_t>(weight.absmax.size());
    Result<void> added = add(operation, name + "_B", DataType::kUint8, {code_bytes}, std::move(weight.codes));
    if (added)
      added = add(operation, name + "_absmax", DataType::kFloat, {blocks}, float_bytes(weight.absmax));
    if (!added) return added.error();
    editor_.remove_node(node.node);
    for (const NodeId transpose : readers.transposes) editor_.remove_node(transpose);
    for (const NodeId multiplication : readers.multiplications)
      replace_multiplication(multiplication, operation);
    return made;
  }

  // Puts `operation` in the place of a MatMul or Gemm; its first input is theirs.
  void replace_multiplication(NodeId id, NewNode operation) {
    const GraphNode& node = graph_.node(id);
    const auto name = [this](TensorId tensor) { return graph_.tensor(tensor).name; };
    const std::string output = name(node.outputs[0]);
    editor_.require_opset(std::string(kContribDomain), 1);
    operation.inputs[0] = name(node.inputs[0]);
    operation.name = editor_.fresh_name((node.name.empty() ? output : node.name) + "_" + operation.op_type);
    const bool adds = node.op_type == "Gemm" && node.inputs.size() > 2 && node.inputs[2] != kNone;
    operation.outputs = {adds ? editor_.fresh_name(output + "_product") : output};
    NewNode sum{"Add", "", editor_.fresh_name(output + "_Add"), {operation.outputs[0]}, {output}, {}};
    editor_.remove_node(id);
    editor_.insert_before(id, std::move(operation));
    if (!adds) return;
    sum.inputs.push_back(name(node.inputs[2]));
    editor_.insert_before(id, std::move(sum));
  }

  const std::shared_ptr<const Model>& model_;
  const Graph& graph_;
  const StandardOptions& options_;
  EncodedModel encoded_;
  ModelEditor editor_;
  StandardWeights made_;
  std::int64_t opset_needed_ = 0;
};

// From 22 on, operators only take more types: the version is enough.
Result<std::shared_ptr<const Model>> raised(const std::shared_ptr<const Model>& model, std::int64_t opset) {
  constexpr std::int64_t kLastConversion = 22;
  if (model->graph().opset() >= opset) return model;
  Result<std::shared_ptr<const Model>> converted =
      model->graph().opset() < kLastConversion ? model->with_opset(std::min(opset, kLastConversion)) : model;
  if (!converted || opset <= kLastConversion) return converted;
  ModelEditor editor(converted.value());
  editor.require_opset("", opset);
  return std::move(editor).finish();
}

}  // namespace

Result<StandardWeights> to_standard(const std::shared_ptr<const Model>& model,
                                    const StandardOptions& options) try {
  Standardization first(model, options);
  if (Result<void> converted = first.convert_all(); !converted) return converted.error();
  if (model->graph().opset() >= first.opset_needed()) return std::move(first).finish();
  const Result<std::shared_ptr<const Model>> newer = raised(model, first.opset_needed());
  if (!newer) return newer.error();
  Standardization second(newer.value(), options);
  if (Result<void> converted = second.convert_all(); !converted) return converted.error();
  return std::move(second).finish();
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kOutOfMemory, "There is not enough memory for the converted weights.", "", ""};
}

}  // namespace halftone
