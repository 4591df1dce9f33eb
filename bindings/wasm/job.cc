#include "job.h"

#include "conversions.h"

namespace halftone::wasm {
namespace {

val not_of_this_kind() {
  return failure(Error{ErrorCode::kInvalidState, "This job has no such step.", "",
                       "This is a fault of Halftone; please report it."});
}

}  // namespace

val Job::skeleton(const std::string&, int, int) { return not_of_this_kind(); }
val Job::switched(const val&, const val&) { return not_of_this_kind(); }
val Job::first_order(const val&, const val&) { return not_of_this_kind(); }
val Job::feed(int, const val&, const val&) { return not_of_this_kind(); }
val Job::read(int, double, double) { return not_of_this_kind(); }
val Job::result() { return not_of_this_kind(); }

}  // namespace halftone::wasm
