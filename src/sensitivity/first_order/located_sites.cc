#include "sensitivity/first_order/located_sites.h"

#include <algorithm>
#include <unordered_set>

#include "plan/qdq_writer.h"
#include "plan/raised_opset.h"
#include "plan/wording.h"

namespace halftone::first_order_model {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

Error bad_site(ErrorCode code, const Site& site, const std::string& what, const char* next) {
  return Error{code, "The tensor " + quoted(site.tensor) + " " + what + ".", printable(site.tensor), next};
}

// What of a site is in a graph; nothing where none of it is.
std::vector<Site> found_in(const Graph& graph, const Site& site) {
  const Site* one = &site;
  return sites_in(graph, std::span<const Site* const>(&one, 1));
}

// A conversion to a later operator set may put several nodes in the place of one. Where the site's consumers
// were all of its tensor's readers, they still are.
Result<void> find_readers(const Graph& original, const Graph& raised, const Site& site, LocatedSite& made) {
  const std::vector<Site> before = found_in(original, site);
  std::vector<Site> after = found_in(raised, site);
  made.tensor = raised.find_tensor(site.tensor);
  if (before.empty() || made.tensor == kNone) {
    made.tensor = kNone;
    return {};
  }
  const Site planned = site_in(original, before.front());
  made.site = site_in(raised, after.empty() ? before.front() : after.front());
  const auto has_all = [&] { return made.site.consumers.size() >= planned.consumers.size(); };
  const GraphTensor& then = original.tensor(original.find_tensor(site.tensor));
  if (!has_all() && planned.consumers.size() == then.consumers.size()) {
    made.site.consumers.clear();
    for (const Use use : raised.tensor(made.tensor).consumers)
      made.site.consumers.push_back({raised.node_label(use.node), use.input});
  }
  if (!has_all()) {
    return bad_site(
        ErrorCode::kUnsupportedOpset, site,
        "has readers that raising the operator set to " + std::to_string(raised.opset()) + " takes away",
        "Raise the opset when exporting the model, and plan again.");
  }
  for (const Consumer& consumer : made.site.consumers)
    made.readers.emplace(raised.find_node(consumer.node), consumer.input);
  return {};
}

}  // namespace

Result<LocatedSites> located_sites(const Graph& original, const Graph& raised,
                                   std::span<const Site* const> sites, const Encodings& encodings) {
  LocatedSites located;
  std::unordered_set<std::string_view> known;
  for (const Site* site : sites) {
    if (site->role == Role::kBias)
      return bad_site(ErrorCode::kInvalidPolicy, *site, "is a bias, which is never scored alone",
                      "Score its node's data input and weight.");
    if (!known.insert(site->tensor).second)
      return bad_site(ErrorCode::kInvalidPolicy, *site, "is given twice", "Give each site once.");
    LocatedSite made;
    made.site = *site;
    if (Result<void> found = find_readers(original, raised, *site, made); !found.ok()) return found.error();
    if (made.tensor != kNone) {
      made.encoding = encodings.find(site->tensor);
      if (made.encoding == nullptr)
        return bad_site(ErrorCode::kInvalidState, *site, "is to be quantized but has no encoding",
                        "Calibrate with this plan, and complete the encodings.");
      if (Result<void> fits = check_encoding(raised, made.site, *made.encoding); !fits.ok())
        return fits.error();
      made.constant = raised.tensor(made.tensor).constant;
      for (const Place& place : made.readers) {
        if (made.constant) located.constant_readers[place] = located.sites.size();
      }
    }
    located.sites.push_back(std::move(made));
  }
  return located;
}

bool carries_change(const GraphTensor& tensor) {
  switch (tensor.type) {
    case DataType::kUndefined:
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return true;
    default:
      return false;
  }
}

// Which body reads which tensor isn't indexed, so each counts as reading all that any of them reads.
std::vector<bool> changed_tensors(const Graph& graph, const LocatedSites& located) {
  std::vector<bool> changed(graph.tensors().size(), false);
  bool captured = false;
  const auto change = [&](TensorId tensor) {
    if (tensor == kNone || graph.tensor(tensor).constant || !carries_change(graph.tensor(tensor))) return;
    changed[index_of(tensor)] = true;
    captured = captured || graph.tensor(tensor).read_by_subgraph;
  };
  for (const LocatedSite& site : located.sites) change(site.tensor);
  for (const NodeId id : graph.topological_order()) {
    const GraphNode& node = graph.node(id);
    bool reads = node.has_subgraph && captured;
    for (std::size_t i = 0; i < node.inputs.size() && !reads; ++i) {
      const TensorId input = node.inputs[i];
      reads = input != kNone && (changed[index_of(input)] ||
                                 located.constant_readers.contains({id, static_cast<std::int32_t>(i)}));
    }
    if (!reads) continue;
    for (const TensorId output : node.outputs) change(output);
  }
  return changed;
}

}  // namespace halftone::first_order_model
