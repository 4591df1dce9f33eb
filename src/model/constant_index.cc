#include "model/constant_index.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/constant_folding.h"
#include "model/value_types.h"

namespace halftone {
namespace {

using Dims = std::vector<std::int64_t>;
using Kind = ConstantSource::Kind;

constexpr std::uint64_t kMaxListElements = kMaxRank;

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::optional<Dims> reshaped(const Dims& from, Dims target, bool allow_zero) {
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && !allow_zero) {
      if (i >= from.size()) return std::nullopt;
      target[i] = from[i];
    } else if (target[i] == -1) {
      if (open) return std::nullopt;
      open = i;
    }
  }
  const auto wanted = element_count(from);
  if (!wanted) return std::nullopt;
  if (open) {
    target[*open] = 1;
    const auto others = element_count(target);
    if (!others || *others == 0 || *wanted % *others != 0) return std::nullopt;
    target[*open] = static_cast<std::int64_t>(*wanted / *others);
  }
  return element_count(target) == wanted ? std::optional(std::move(target)) : std::nullopt;
}

// Flags of `rank` axes, from a list with negative ones; nullopt if one is out of range or named twice.
std::optional<std::vector<bool>> axis_flags(const Dims& axes, std::size_t rank) {
  std::vector<bool> flags(rank, false);
  for (std::int64_t axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || flags[static_cast<std::size_t>(axis)])
      return std::nullopt;
    flags[static_cast<std::size_t>(axis)] = true;
  }
  return flags;
}

std::optional<Dims> squeezed(const Dims& from, const std::optional<Dims>& axes) {
  Dims made;
  if (!axes) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(made),
                 [](std::int64_t dim) { return dim != 1; });
    return made;
  }
  const auto flags = axis_flags(*axes, from.size());
  if (!flags) return std::nullopt;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if ((*flags)[i] && from[i] != 1) return std::nullopt;
    if (!(*flags)[i]) made.push_back(from[i]);
  }
  return made;
}

std::optional<Dims> unsqueezed(const Dims& from, const Dims& axes) {
  if (axes.size() > kMaxRank) return std::nullopt;
  const auto flags = axis_flags(axes, from.size() + axes.size());
  if (!flags) return std::nullopt;
  Dims made;
  std::size_t next = 0;
  for (const bool added : *flags) made.push_back(added ? 1 : from[next++]);
  return made;
}

class ConstantIndexer {
 public:
  ConstantIndexer(const onnx::GraphProto& graph, const WeightStore& store, Graph::Parts& parts)
      : graph_(graph), store_(store), parts_(parts), sources_(parts.tensors.size()) {}

  std::vector<ConstantSource> run() {
    std::unordered_map<std::string_view, TensorId> ids;
    for (std::size_t i = 0; i < parts_.tensors.size(); ++i) {
      if (parts_.tensors[i].initializer) ids.emplace(parts_.tensors[i].name, static_cast<TensorId>(i));
    }
    for (const onnx::TensorProto& tensor : graph_.initializer()) {
      const auto place = ids.find(tensor.name());
      if (place != ids.end()) add_tensor(place->second, tensor);
    }
    for (const NodeId id : parts_.order) add_node(id);
    for (std::size_t i = 0; i < sources_.size(); ++i) note(parts_.tensors[i], sources_[i]);
    return std::move(sources_);
  }

 private:
  ConstantSource& source(TensorId id) { return sources_[static_cast<std::size_t>(id)]; }

  static void note(GraphTensor& tensor, const ConstantSource& source) {
    tensor.constant = source.kind != Kind::kNotConstant;
    if (!tensor.constant) return;
    ValueType known{tensor.type, std::move(tensor.shape)};
    ValueType own{source.type, std::vector<Dimension>{}};
    for (const std::int64_t dim : source.dims) own.shape->push_back({dim, {}});
    merge_value_type(known, own);
    tensor.type = known.type;
    tensor.shape = std::move(known.shape);
  }

  void add_tensor(TensorId id, const onnx::TensorProto& tensor) {
    ConstantSource& made = source(id);
    made.kind = Kind::kTensor;
    made.tensor = &tensor;
    made.type = static_cast<DataType>(tensor.data_type());
    made.dims.assign(tensor.dims().begin(), tensor.dims().end());
  }

  void add_node(NodeId id) {
    const GraphNode& node = parts_.nodes[static_cast<std::size_t>(id)];
    if (!node.domain.empty() || node.outputs.size() != 1 || node.outputs[0] == kNone) return;
    const onnx::NodeProto& proto = graph_.node(id);
    if (node.op_type == "Constant") return add_constant_node(node.outputs[0], proto);
    if (node.inputs.empty() || node.inputs[0] == kNone || !is_foldable(source(node.inputs[0]))) return;
    if (auto made = fold(node, proto)) source(node.outputs[0]) = *std::move(made);
  }

  static bool is_foldable(const ConstantSource& from) {
    return from.kind != Kind::kNotConstant && data_type_bits(from.type) != 0 &&
           from.dims.size() <= kMaxRank && element_count(from.dims).has_value();
  }

  void add_constant_node(TensorId output, const onnx::NodeProto& node) {
    if (node.attribute_size() != 1) return;
    const onnx::AttributeProto& value = node.attribute(0);
    if (value.name() == "value" && value.has_t()) return add_tensor(output, value.t());
    const bool floats = value.name() == "value_floats";
    const bool ints = value.name() == "value_ints";
    if (!floats && !ints && value.name() != "value_float" && value.name() != "value_int") return;
    ConstantSource& made = source(output);
    made.kind = Kind::kAttribute;
    made.attribute = &value;
    made.type = floats || value.name() == "value_float" ? DataType::kFloat : DataType::kInt64;
    if (floats) made.dims = {value.floats_size()};
    if (ints) made.dims = {value.ints_size()};
  }

  std::optional<ConstantSource> fold(const GraphNode& node, const onnx::NodeProto& proto) {
    const TensorId from = node.inputs[0];
    if (node.op_type == "Identity") return view(from, source(from).dims);
    if (node.op_type == "Cast") return cast(from, proto);
    if (node.op_type == "Transpose") return transpose(from, proto);
    std::optional<Dims> dims;
    if (node.op_type == "Reshape") dims = reshape_dims(node, proto);
    if (node.op_type == "Squeeze") dims = squeeze_dims(node, proto);
    if (node.op_type == "Unsqueeze") {
      const auto axes = integers(node, 1, proto, "axes");
      if (axes) dims = unsqueezed(source(from).dims, *axes);
    }
    return dims && dims->size() <= kMaxRank ? std::optional(view(from, *std::move(dims))) : std::nullopt;
  }

  // A view of a view is a view of what that one views: chains of any length stay one step long.
  ConstantSource view(TensorId from, Dims dims) {
    const ConstantSource& base = source(from);
    ConstantSource made;
    made.kind = Kind::kView;
    made.steps = base.steps;
    made.from = base.kind == Kind::kView ? base.from : from;
    made.type = base.type;
    made.dims = std::move(dims);
    return made;
  }

  std::optional<ConstantSource> cast(TensorId from, const onnx::NodeProto& node) {
    const onnx::AttributeProto* to = find_attribute(node, "to");
    if (to == nullptr || !to->has_i()) return std::nullopt;
    ConstantSource made;
    made.kind = Kind::kCast;
    made.type = static_cast<DataType>(static_cast<std::int32_t>(to->i()));
    made.from = from;
    made.dims = source(from).dims;
    made.steps = static_cast<std::uint8_t>(source(from).steps + 1);
    if (made.type == source(from).type) return view(from, std::move(made.dims));
    if (!can_cast(source(from).type, made.type) || made.steps > kMaxFoldSteps) return std::nullopt;
    return made;
  }

  std::optional<ConstantSource> transpose(TensorId from, const onnx::NodeProto& node) {
    const ConstantSource& base = source(from);
    const std::size_t rank = base.dims.size();
    ConstantSource made;
    made.kind = Kind::kTranspose;
    made.steps = static_cast<std::uint8_t>(base.steps + 1);
    made.from = from;
    made.type = base.type;
    if (const onnx::AttributeProto* permutation = find_attribute(node, "perm")) {
      made.permutation.assign(permutation->ints().begin(), permutation->ints().end());
    } else {
      for (std::size_t i = rank; i > 0; --i) made.permutation.push_back(static_cast<std::int64_t>(i - 1));
    }
    const bool negative =
        std::any_of(made.permutation.begin(), made.permutation.end(), [](auto axis) { return axis < 0; });
    if (made.permutation.size() != rank || negative || !axis_flags(made.permutation, rank))
      return std::nullopt;
    if (data_type_bits(base.type) < 8 || made.steps > kMaxFoldSteps) return std::nullopt;
    for (const std::int64_t axis : made.permutation)
      made.dims.push_back(base.dims[static_cast<std::size_t>(axis)]);
    return made;
  }

  std::optional<Dims> reshape_dims(const GraphNode& node, const onnx::NodeProto& proto) {
    const auto target = integers(node, 1, proto, "shape");
    const onnx::AttributeProto* allow_zero = find_attribute(proto, "allowzero");
    if (!target) return std::nullopt;
    return reshaped(source(node.inputs[0]).dims, *target, allow_zero != nullptr && allow_zero->i() != 0);
  }

  std::optional<Dims> squeeze_dims(const GraphNode& node, const onnx::NodeProto& proto) {
    const bool has_axes =
        (node.inputs.size() > 1 && node.inputs[1] != kNone) || find_attribute(proto, "axes") != nullptr;
    const auto axes = integers(node, 1, proto, "axes");
    if (has_axes && !axes) return std::nullopt;
    return squeezed(source(node.inputs[0]).dims, axes);
  }

  // A short list of integers, given as an input or, in older operator sets, as an attribute.
  std::optional<Dims> integers(const GraphNode& node, std::size_t input, const onnx::NodeProto& proto,
                               std::string_view name) {
    if (const onnx::AttributeProto* attribute = find_attribute(proto, name)) {
      if (static_cast<std::uint64_t>(attribute->ints_size()) > kMaxListElements) return std::nullopt;
      return Dims(attribute->ints().begin(), attribute->ints().end());
    }
    if (input >= node.inputs.size() || node.inputs[input] == kNone) return std::nullopt;
    const ConstantSource& list = source(node.inputs[input]);
    if (list.kind == Kind::kNotConstant || list.type != DataType::kInt64 || list.dims.size() > 1)
      return std::nullopt;
    const auto count = element_count(list.dims);
    if (!count || *count > kMaxListElements) return std::nullopt;
    const Result<TensorBytes> value = fold_constant(sources_, node.inputs[input], store_);
    if (!value.ok()) return std::nullopt;
    Dims made(value.value().view.size() / sizeof(std::int64_t));
    if (!made.empty())
      std::memcpy(made.data(), value.value().view.data(), made.size() * sizeof(std::int64_t));
    return made;
  }

  const onnx::GraphProto& graph_;
  const WeightStore& store_;
  Graph::Parts& parts_;
  std::vector<ConstantSource> sources_;
};

}  // namespace

std::vector<ConstantSource> index_constants(const onnx::GraphProto& graph, const WeightStore& store,
                                            Graph::Parts& parts) {
  return ConstantIndexer(graph, store, parts).run();
}

}  // namespace halftone
