// The float8e4m3fn kernels of one instruction set, for the table in simd_codes.cc. Included once per
// instruction set, after Highway's headers.
#include "numeric/kernel_set.h"

#if defined(HALFTONE_SIMD_FLOAT8_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALFTONE_SIMD_FLOAT8_H
#undef HALFTONE_SIMD_FLOAT8_H
#else
#define HALFTONE_SIMD_FLOAT8_H
#endif

namespace halftone::numeric {
namespace HWY_NAMESPACE {

CodeKernels float8_kernels();

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric

#endif
