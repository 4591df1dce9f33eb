// The sites of a first-order model where they stand in its graph, and what depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/graph.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone::first_order_model {

// A node and the number of its input.
using Place = std::pair<NodeId, std::int32_t>;

struct LocatedSite {
  Site site;  // as it stands in the graph
  TensorId tensor = kNone;
  bool constant = false;
  const Encoding* encoding = nullptr;
  std::set<Place> readers;  // those of its consumers that the graph has
};

struct LocatedSites {
  // By site; the tensor is kNone where the graph doesn't have it.
  std::vector<LocatedSite> sites;
  // What reads a constant site, and which.
  std::map<Place, std::size_t> constant_readers;
};

// `original` is the graph that the sites were planned in, `raised` the same at a later operator set. Errors:
// kInvalidPolicy for a bias and for a tensor that comes twice, kInvalidState for a site without an encoding,
// kUnsupportedOpset where readers of a site were lost, those of check_encoding.
Result<LocatedSites> located_sites(const Graph& original, const Graph& raised,
                                   std::span<const Site* const> sites, const Encodings& encodings);

// By tensor: whether some quantizer changes it, as far as float values carry that.
std::vector<bool> changed_tensors(const Graph& graph, const LocatedSites& located);

// Whether values of this type carry a change. A type that isn't known does.
bool carries_change(const GraphTensor& tensor);

}  // namespace halftone::first_order_model
