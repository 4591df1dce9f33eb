// The kernels of the small floats of one instruction set, for the table in simd_codes.cc. Included once per
// instruction set, after Highway's headers.
#include "numeric/kernel_set.h"

#if defined(HALFTONE_SIMD_SMALL_FLOATS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALFTONE_SIMD_SMALL_FLOATS_H
#undef HALFTONE_SIMD_SMALL_FLOATS_H
#else
#define HALFTONE_SIMD_SMALL_FLOATS_H
#endif

namespace halftone::numeric {
namespace HWY_NAMESPACE {

CodeKernels e4m3fn_kernels();
CodeKernels e4m3fnuz_kernels();
CodeKernels e5m2_kernels();
CodeKernels e5m2fnuz_kernels();
CodeKernels e2m1_kernels();
RowKernels e3m2_kernels();
RowKernels e2m3_kernels();

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric

#endif
