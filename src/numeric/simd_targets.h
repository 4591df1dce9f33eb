// Which instruction sets the kernels are compiled for: one that every machine has, and those that pay.
// Include before any Highway header. Each costs compile time and a copy of the code, and on 64 MiB these
// kernels wait for memory anyway. Scalable vectors (SVE, RVV) are out because the fixed order of sums needs
// arrays of vectors.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_ALL_SVE | HWY_RVV)
