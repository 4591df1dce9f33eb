// Models that are run, not shipped: what quantizers do to the float model.
#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "halftone/rewrite.h"
#include "plan/opset_needed.h"
#include "plan/qdq_writer.h"
#include "plan/raised_opset.h"
#include "plan/wording.h"

namespace halftone {
namespace {

// Activations are simulated by a pair in the graph, constants by their own values.
Result<void> simulate(const Graph& graph, const Site& site, const Encoding& encoding, QdqWriter& writer) {
  Result<void> fits = check_encoding(graph, site, encoding);
  if (!fits.ok()) return fits;
  return graph.tensor(graph.find_tensor(site.tensor)).constant ? writer.add_simulated_constant(site, encoding)
                                                               : writer.add_pair(site, encoding);
}

// The opset that the pairs of a simulation need; constants are plain floats there.
std::int64_t simulation_opset(const Site& site) {
  return site.role == Role::kActivation ? opset_needed_for(site) : 0;
}

constexpr std::int64_t kOpsetOfWhere = 9;

Error no_encoding(const Site& site) {
  return Error{ErrorCode::kInvalidState,
               "The tensor " + quoted(site.tensor) + " is to be quantized but has no encoding.",
               printable(site.tensor), "Calibrate with this plan, and complete the encodings."};
}

// check_plan for a single site, which stands alone: other sites don't matter.
Result<void> check_site(const Model& model, const Site& site) {
  Plan plan;
  plan.sites.push_back(site);
  plan.sites.back().quantized = true;
  return check_plan(model, plan);
}

}  // namespace

Result<std::shared_ptr<const Model>> single_site_variant(const std::shared_ptr<const Model>& model,
                                                         const Site& site, const Encoding& encoding) {
  if (site.role == Role::kBias) {
    return Error{ErrorCode::kInvalidPolicy, "The bias " + quoted(site.tensor) + " is never scored alone.",
                 printable(site.tensor), "Score its node's data input and weight."};
  }
  const Result<void> fits = check_site(*model, site);
  if (!fits.ok()) return fits.error();
  const Result<std::shared_ptr<const Model>> base = raised_to(model, simulation_opset(site));
  if (!base.ok()) return base.error();
  ModelEditor editor(base.value());
  QdqWriter writer(*base.value(), editor);
  const Graph& graph = base.value()->graph();
  const Result<void> written = simulate(graph, site_in(graph, site), encoding, writer);
  if (!written.ok()) return written.error();
  return std::move(editor).finish();
}

Result<std::shared_ptr<const Model>> simulated_model(const std::shared_ptr<const Model>& model,
                                                     const Plan& plan, const Encodings& encodings) {
  const Result<void> fits = check_plan(*model, plan);
  if (!fits.ok()) return fits.error();
  std::vector<const Site*> sites;
  for (const Site& site : plan.sites) {
    if (site.quantized) sites.push_back(&site);
  }
  return simulated_sites(model, sites, encodings);
}

Result<std::shared_ptr<const Model>> simulated_sites(const std::shared_ptr<const Model>& model,
                                                     std::span<const Site* const> sites,
                                                     const Encodings& encodings) {
  const std::vector<Site> here = sites_in(model->graph(), sites);
  std::int64_t needed = 0;
  for (const Site& site : here) needed = std::max(needed, simulation_opset(site));
  const Result<std::shared_ptr<const Model>> base = raised_to(model, needed);
  if (!base.ok()) return base.error();
  const Graph& graph = base.value()->graph();
  ModelEditor editor(base.value());
  QdqWriter writer(*base.value(), editor);
  for (const Site& site : here) {
    const Encoding* encoding = encodings.find(site.tensor);
    if (encoding == nullptr) return no_encoding(site);
    const Result<void> written = simulate(graph, site_in(graph, site), *encoding, writer);
    if (!written.ok()) return written.error();
  }
  return std::move(editor).finish();
}

Result<GatedModel> gated_model(const std::shared_ptr<const Model>& model, std::span<const Site* const> sites,
                               const Encodings& encodings) {
  const std::vector<Site> here = sites_in(model->graph(), sites);
  std::int64_t needed = kOpsetOfWhere;
  for (const Site& site : here) needed = std::max(needed, simulation_opset(site));
  const Result<std::shared_ptr<const Model>> base = raised_to(model, needed);
  if (!base.ok()) return base.error();
  const Graph& graph = base.value()->graph();
  ModelEditor editor(base.value());
  QdqWriter writer(*base.value(), editor);
  std::unordered_map<std::string, std::string> gate_of;
  for (const Site& one : here) {
    const Site site = site_in(graph, one);
    const Encoding* encoding = encodings.find(site.tensor);
    if (encoding == nullptr) return no_encoding(site);
    if (Result<void> fits = check_encoding(graph, site, *encoding); !fits.ok()) return fits.error();
    const std::string gate = editor.fresh_name(site.tensor + "_gate");
    const GraphTensor& tensor = graph.tensor(graph.find_tensor(site.tensor));
    const auto& shape = tensor.shape;
    editor.add_graph_input(
        {gate, DataType::kBool, std::vector<Dimension>(shape ? shape->size() : 0, {1, {}})});
    const Result<void> written = tensor.constant ? writer.add_gated_constant(site, *encoding, gate)
                                                 : writer.add_gated_pair(site, *encoding, gate);
    if (!written.ok()) return written.error();
    gate_of[site.tensor] = gate;
  }
  Result<std::shared_ptr<const Model>> made = std::move(editor).finish();
  if (!made.ok()) return made.error();
  GatedModel gated{std::move(made).value(), {}};
  for (const Site* site : sites) {
    const auto gate = gate_of.find(site->tensor);
    gated.gates.push_back(gate == gate_of.end() ? std::string() : gate->second);
  }
  return gated;
}

Result<std::shared_ptr<const Model>> with_outputs(const std::shared_ptr<const Model>& model,
                                                  const std::vector<std::string>& tensors) {
  const Graph& graph = model->graph();
  ModelEditor editor(model);
  std::vector<bool> added(graph.tensors().size(), false);
  for (const std::string& name : tensors) {
    const TensorId id = graph.find_tensor(name);
    if (id == kNone) {
      return Error{ErrorCode::kInvalidPolicy, "The model has no tensor " + quoted(name) + ".",
                   printable(name), "Choose one of its tensors."};
    }
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.graph_output || added[static_cast<std::size_t>(id)]) continue;
    added[static_cast<std::size_t>(id)] = true;
    editor.add_graph_output({name, tensor.type, tensor.shape});
  }
  return std::move(editor).finish();
}

}  // namespace halftone
