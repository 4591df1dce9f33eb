#include "halftone/switched_part.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "halftone/editor.h"
#include "plan/constant_codes.h"
#include "plan/constant_values.h"
#include "plan/qdq_writer.h"
#include "plan/raised_opset.h"
#include "plan/wording.h"
#include "sensitivity/conv_folding.h"

namespace halftone {
namespace {

std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class Switching {
 public:
  Switching(const std::shared_ptr<const Model>& part, std::span<const Site* const> sites,
            const Encodings& encodings)
      : part_(*part), graph_(part->graph()), encodings_(encodings), editor_(part), all_(sites) {
    for (const Site* site : sites) kept_.insert(graph_.find_tensor(site->tensor));
  }

  Result<SwitchedPart> run() {
    for (const Site& one : sites_in(graph_, all_)) {
      const Site site = site_in(graph_, one);
      const Encoding* encoding = encodings_.find(site.tensor);
      if (encoding == nullptr) {
        return Error{ErrorCode::kInvalidState,
                     "The tensor " + quoted(site.tensor) + " is to be quantized but has no encoding.",
                     printable(site.tensor), "Calibrate with this plan, and complete the encodings."};
      }
      if (Result<void> fits = check_encoding(graph_, site, *encoding); !fits.ok()) return fits.error();
      const bool constant = graph_.tensor(graph_.find_tensor(site.tensor)).constant;
      Result<void> added = constant ? add_constant(site, *encoding) : add_activation(site);
      if (!added.ok()) return added.error();
    }
    Result<std::shared_ptr<const Model>> model = std::move(editor_).finish();
    if (!model.ok()) return model.error();
    SwitchedPart made{std::move(model).value(), {}};
    for (const Site* site : all_) {
      const auto known = switches_.find(site->tensor);
      made.switches.push_back(known == switches_.end() ? std::nullopt
                                                       : std::optional(std::move(known->second)));
    }
    return made;
  }

 private:
  void redirect(const Site& site, const std::string& tensor) {
    for (const Consumer& consumer : site.consumers)
      editor_.redirect_input({graph_.find_node(consumer.node), consumer.input}, tensor);
  }

  // Whether nothing in the part reads the tensor but the site's readers.
  static bool reads_alone(const GraphTensor& tensor, const Site& site) {
    return tensor.consumers.size() == site.consumers.size() && !tensor.graph_output &&
           !tensor.read_by_subgraph;
  }

  Result<void> add_activation(const Site& site) {
    const TensorId id = graph_.find_tensor(site.tensor);
    const GraphTensor& tensor = graph_.tensor(id);
    if (!has_switch(graph_, site)) return {};
    SiteSwitch made;
    made.tensor = site.tensor;
    if (tensor.graph_input && reads_alone(tensor, site)) {
      made.kind = SwitchKind::kInput;
      made.feed = site.tensor;
      switches_[site.tensor] = std::move(made);
      return {};
    }
    made.kind = SwitchKind::kAddend;
    made.feed = editor_.fresh_name(site.tensor + "_addend");
    made.rank = tensor.shape->size();
    editor_.add_graph_input({made.feed, DataType::kFloat, std::vector<Dimension>(made.rank)});
    // Not an Add, which a runtime joins with a Conv in front of it, and then adds in another order.
    NewNode sum;
    sum.op_type = "Sum";
    sum.name = editor_.fresh_name(site.tensor + "_Sum");
    sum.inputs = {site.tensor, made.feed};
    sum.outputs = {editor_.fresh_name(site.tensor + "_Sum_Output")};
    redirect(site, sum.outputs.front());
    if (tensor.producer == kNone) {
      editor_.insert_front(std::move(sum));
    } else {
      editor_.insert_after(tensor.producer, std::move(sum));
      editor_.add_graph_output({site.tensor, tensor.type, tensor.shape});
    }
    switches_[site.tensor] = std::move(made);
    return {};
  }

  Result<void> add_constant(const Site& site, const Encoding& encoding) {
    const Result<ConstantValues> values = constant_values(part_, site.tensor);
    if (!values.ok()) return {};
    Result<ConstantCodes> simulated = simulated_values(part_, site, encoding);
    if (!simulated.ok()) return simulated.error();
    SiteSwitch made;
    made.kind = SwitchKind::kValues;
    made.tensor = site.tensor;
    made.dims = values.value().dims;
    made.off = copied(values.value().values);
    made.on = floats_of(simulated.value().bytes);
    made.feed = editor_.fresh_name(site.tensor + "_fed");
    std::vector<Dimension> shape;
    for (const std::int64_t size : made.dims) shape.push_back({size, {}});
    editor_.add_graph_input({made.feed, DataType::kFloat, std::move(shape)});
    redirect(site, made.feed);
    if (Result<void> folded = fold(site, made); !folded.ok()) return folded;
    switches_[site.tensor] = std::move(made);
    return {};
  }

  Result<void> fold(const Site& site, SiteSwitch& made) {
    if (site.consumers.size() != 1 || site.consumers.front().input != 1) return {};
    const NodeId conv = graph_.find_node(site.consumers.front().node);
    FoldedConv folded = fold_behind(part_, conv, kept_);
    if (folded.nodes.empty()) return {};
    const auto channels = static_cast<std::size_t>(made.dims.front());
    multiply_channels(made.off, channels, folded);
    multiply_channels(made.on, channels, folded);
    if (folded.bias) {
      std::string name = editor_.fresh_name(site.tensor + "_folded_bias");
      std::vector<std::uint8_t> bytes(folded.bias->size() * sizeof(float));
      if (!bytes.empty()) std::memcpy(bytes.data(), folded.bias->data(), bytes.size());
      Result<void> added = editor_.add_initializer(name, DataType::kFloat, {made.dims.front()}, bytes);
      if (!added.ok()) return added;
      editor_.redirect_input({conv, 2}, std::move(name));
    }
    for (const NodeId node : folded.nodes) editor_.remove_node(node);
    const TensorId last = graph_.node(folded.nodes.back()).outputs.front();
    editor_.rename_output(conv, 0, graph_.tensor(last).name);
    return {};
  }

  const Model& part_;
  const Graph& graph_;
  const Encodings& encodings_;
  ModelEditor editor_;
  std::span<const Site* const> all_;
  std::unordered_set<TensorId> kept_;
  std::unordered_map<std::string, SiteSwitch> switches_;
};

}  // namespace

bool has_switch(const Graph& graph, const Site& site) {
  const TensorId id = graph.find_tensor(site.tensor);
  if (id == kNone || graph.tensor(id).type != DataType::kFloat) return false;
  const GraphTensor& tensor = graph.tensor(id);
  if (tensor.constant) return true;
  const bool measured = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                    [&](Use use) { return graph.node(use.node).op_type == "Shape"; });
  return !site.serves_output && tensor.shape && !measured;
}

Result<SwitchedPart> switched_part(const std::shared_ptr<const Model>& part,
                                   std::span<const Site* const> sites, const Encodings& encodings) {
  return Switching(part, sites, encodings).run();
}

}  // namespace halftone
