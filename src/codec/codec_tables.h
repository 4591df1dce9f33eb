// The code books of profiles that have one by default.
#pragma once

#include <span>

namespace halftone::codec {

std::span<const double> nf4_table();      // QLoRA's normal floats, exact float32 values, as in bitsandbytes
std::span<const double> iq4_nl_table();   // ggml's non-linear 4 bits
std::span<const double> binary_table();   // -1, 1
std::span<const double> ternary_table();  // -1, 0, 1
std::span<const double> log_table();      // 0 and powers of two from 1/8 to 8, the positive one first
std::span<const double> e2m1_table();     // by code; 8 is -0
std::span<const double> e3m2_table();     // by code; 32 is -0
std::span<const double> e4m3_table();     // by code without the two NaN: from 127 on, index + 1 is the code

}  // namespace halftone::codec
