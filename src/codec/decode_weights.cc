#include <new>
#include <utility>

#include "codec/decoded_nodes.h"
#include "codec/named_error.h"
#include "halftone/editor.h"
#include "halftone/encode_weights.h"

namespace halftone {
namespace {

// dtype is required, and the codec takes kUndefined for the logical type.
Result<void> check_type(const Graph& graph, const codec::DecodedNode& node) {
  if (node.type != DataType::kUndefined) return {};
  return Error{ErrorCode::kInvalidGraph, "A node Dequantize has no attribute dtype.",
               printable(graph.node_label(node.node)), "Check what wrote the model."};
}

Result<DecodedWeight> decode_one(const Graph& graph, const EncodedModel& encoded,
                                 const codec::DecodedNode& node, ModelEditor& editor) {
  if (Result<void> typed = check_type(graph, node); !typed) return typed.error();
  Result<std::vector<std::uint8_t>> values = encoded.decode(*node.initializer, node.type);
  if (!values) return values.error();
  DecodedWeight made{graph.tensor(node.output).name, node.initializer->name, node.type,
                     values.value().size()};
  editor.remove_node(node.node);
  Result<void> added = editor.add_initializer(made.tensor, node.type, node.initializer->logical_type.dims,
                                              std::move(values).value());
  return added ? Result<DecodedWeight>(std::move(made)) : added.error();
}

}  // namespace

Result<DecodedWeights> decode_weights(const std::shared_ptr<const Model>& model) try {
  const EncodedModel encoded(model);
  if (encoded.catalogue_fault()) return *encoded.catalogue_fault();
  codec::DecodedNodes nodes = codec::find_decoded_nodes(model->graph(), encoded);
  DecodedWeights made{model, {}, std::move(nodes.left)};
  if (nodes.direct.empty()) return made;
  ModelEditor editor(model);
  for (const codec::DecodedNode& node : nodes.direct) {
    Result<DecodedWeight> decoded = decode_one(model->graph(), encoded, node, editor);
    if (!decoded) return decoded.error();
    made.decoded.push_back(std::move(decoded).value());
  }
  Result<std::shared_ptr<const Model>> finished = std::move(editor).finish();
  if (!finished) return finished.error();
  made.model = std::move(finished).value();
  return made;
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kOutOfMemory, "There is not enough memory for the decoded weights.", "", ""};
}

}  // namespace halftone
