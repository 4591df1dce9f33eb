// The nearest entry of a code book of vectors.
#pragma once

#include <cstddef>
#include <span>

namespace halftone::codec {

// The entry (of `entries`, each `vector_size` components) with the smallest sum of squared distances from
// `values` over its first values.size() components, in extended precision; of equal ones the first. Decided
// in double where that is provably the same.
std::size_t nearest_entry(std::span<const double> values, const double* entries, std::size_t count,
                          std::size_t vector_size);

}  // namespace halftone::codec
