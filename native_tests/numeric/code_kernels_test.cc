// Every code kernel of every instruction set against the scalar reference: equal bytes, and not one byte
// outside.
#include <catch2/catch_all.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "numeric/kernel_cases.h"
#include "numeric/kernel_set.h"

namespace halftone {
namespace {

using kernel_cases::Grain;
using kernel_cases::GuardedBytes;
using numeric::code_storage_of;
using numeric::CodeKernelSet;

// What one run of a kernel needs; `grains` has one entry per row, or one per element of the period.
struct Job {
  const NumberFormatInfo* info;
  std::size_t rows;
  std::size_t length;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  std::vector<float> float_zero_points;

  [[nodiscard]] std::size_t count() const { return rows * length; }
  [[nodiscard]] std::size_t code_bytes() const { return static_cast<std::size_t>(info->bits) > 8 ? 2 : 1; }
  [[nodiscard]] const numeric::CodeKernels& kernels(const CodeKernelSet& set) const {
    return set.by_storage[static_cast<std::size_t>(code_storage_of(info->format))];
  }
  [[nodiscard]] numeric::RowGrid row_grid() const {
    return {scales.data(), zero_points.data(), info->lowest, info->highest};
  }
  [[nodiscard]] numeric::PeriodicGrid periodic_grid() const {
    return {scales.data(), float_zero_points.data(), scales.size(), info->lowest, info->highest};
  }
};

// The list of kernels under test. `from_codes` says what the input is, `to_codes` what the output is.
struct Kernel {
  const char* name;
  bool periodic;
  bool from_codes;
  bool to_codes;
  void (*run)(const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out);
};

const Kernel kKernels[] = {
    {"quantize_rows", false, false, true,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).quantize_rows(in, job.rows, job.length, job.row_grid(), out);
     }},
    {"quantize_periodic", true, false, true,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).quantize_periodic(in, job.count(), job.periodic_grid(), out);
     }},
    {"dequantize_rows", false, true, false,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).dequantize_rows(in, job.rows, job.length, job.row_grid(), out);
     }},
    {"dequantize_periodic", true, true, false,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).dequantize_periodic(in, job.count(), job.periodic_grid(), out);
     }},
    {"fake_quantize_rows", false, false, false,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).fake_quantize_rows(in, job.rows, job.length, job.row_grid(), out);
     }},
    {"fake_quantize_periodic", true, false, false,
     [](const CodeKernelSet& set, const Job& job, const std::uint8_t* in, std::uint8_t* out) {
       job.kernels(set).fake_quantize_periodic(in, job.count(), job.periodic_grid(), out);
     }},
};

Job make_job(NumberFormat format, const Kernel& kernel, std::size_t length, std::size_t period,
             std::mt19937& random) {
  Job job = {&number_format_info(format), kernel.periodic ? 1U : 1U + random() % 3U, length, {}, {}, {}};
  const std::size_t grains = kernel.periodic ? period : job.rows;
  for (std::size_t i = 0; i < grains; ++i) {
    const Grain grain = kernel_cases::random_grain(format, random);
    job.scales.push_back(grain.scale);
    job.zero_points.push_back(grain.zero_point);
    job.float_zero_points.push_back(static_cast<float>(grain.zero_point));
  }
  return job;
}

std::vector<std::uint8_t> input_for(const Job& job, const Kernel& kernel, std::mt19937& random) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < job.count(); ++i) {
    if (kernel.from_codes) {
      const auto codes = 1U << static_cast<unsigned>(job.info->bits);
      const std::int32_t code = job.info->lowest + static_cast<std::int32_t>(random() % codes);
      const auto* raw = reinterpret_cast<const std::uint8_t*>(&code);
      bytes.insert(bytes.end(), raw, raw + job.code_bytes());
      continue;
    }
    const std::size_t at = kernel.periodic ? i % job.scales.size() : i / job.length;
    const float value =
        kernel_cases::hard_values(job.info->format, {job.scales[at], job.zero_points[at]}, 1, random)[0];
    const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(value));
  }
  return bytes;
}

void compare(const Kernel& kernel, const Job& job, const std::vector<std::uint8_t>& in, std::size_t offset) {
  const std::size_t out_bytes = job.count() * (kernel.to_codes ? job.code_bytes() : sizeof(float));
  std::vector<std::uint8_t> expected(out_bytes);
  kernel.run(numeric::reference_code_kernels(), job, in.data(), expected.data());
  GuardedBytes input(in.size(), offset);
  std::copy(in.begin(), in.end(), input.data());
  GuardedBytes output(out_bytes, offset);
  const CodeKernelSet& set = numeric::simd_code_kernels();
  INFO(set.instruction_set << " " << kernel.name << " " << job.info->name << ", rows " << job.rows
                           << ", length " << job.length << ", scales " << job.scales.size() << ", offset "
                           << offset << ", seed " << Catch::getSeed());
  kernel.run(set, job, input.data(), output.data());
  REQUIRE(output.contents() == expected);
  REQUIRE(output.intact());
  REQUIRE(input.intact());
  REQUIRE(input.contents() == in);
}

TEST_CASE("Code kernels equal the reference over lengths, offsets and hard values", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const Kernel& kernel : kKernels) {
      for (const NumberFormat format : kernel_cases::quantize_formats()) {
        for (const std::size_t length : kernel_cases::lengths()) {
          const Job job = make_job(format, kernel, length, 1 + random() % 200, random);
          const std::vector<std::uint8_t> in = input_for(job, kernel, random);
          for (const std::size_t offset : kernel_cases::kOffsets) compare(kernel, job, in, offset);
        }
      }
    }
  });
}

TEST_CASE("Code kernels equal the reference at every period", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const Kernel& kernel : kKernels) {
      if (!kernel.periodic) continue;
      for (const std::size_t period : {1U, 2U, 3U, 15U, 16U, 17U, 63U, 64U, 65U, 257U, 1024U, 3000U}) {
        for (const NumberFormat format : kernel_cases::quantize_formats()) {
          const Job job = make_job(format, kernel, 2311, period, random);
          compare(kernel, job, input_for(job, kernel, random), 4);
        }
      }
    }
  });
}

TEST_CASE("Quantizing rounds ties as the reference for 200 scales", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const NumberFormat format : kernel_cases::integer_formats()) {
      const NumberFormatInfo& info = number_format_info(format);
      for (int trial = 0; trial < 200; ++trial) {
        const Grain grain = kernel_cases::random_grain(format, random);
        Job job = {&info, 1, 400, {grain.scale}, {grain.zero_point}, {static_cast<float>(grain.zero_point)}};
        std::vector<float> ties;
        const std::int32_t first =
            info.bits == 16 ? info.lowest + static_cast<std::int32_t>(random() % 65000U) : info.lowest;
        for (std::size_t i = 0; i < job.length; ++i) {
          const double step = first + static_cast<double>(i) - 20.5 - grain.zero_point;
          ties.push_back(static_cast<float>(step * static_cast<double>(grain.scale)));
        }
        const auto* raw = reinterpret_cast<const std::uint8_t*>(ties.data());
        const std::vector<std::uint8_t> in(raw, raw + ties.size() * sizeof(float));
        for (const Kernel& kernel : kKernels) {
          if (!kernel.from_codes) compare(kernel, job, in, 0);
        }
      }
    }
  });
}

TEST_CASE("Fake-quantize works in place", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const Kernel& kernel : kKernels) {
      if (kernel.from_codes || kernel.to_codes) continue;
      for (const NumberFormat format :
           {NumberFormat::kInt8, NumberFormat::kFloat8E4M3Fn, NumberFormat::kFloat8E4M3Fnuz,
            NumberFormat::kFloat8E5M2, NumberFormat::kFloat4E2M1}) {
        for (const std::size_t length : kernel_cases::lengths()) {
          const Job job = make_job(format, kernel, length, 100, random);
          std::vector<std::uint8_t> memory = input_for(job, kernel, random);
          std::vector<std::uint8_t> expected(memory.size());
          kernel.run(numeric::reference_code_kernels(), job, memory.data(), expected.data());
          kernel.run(numeric::simd_code_kernels(), job, memory.data(), memory.data());
          INFO(kernel.name << " " << job.info->name << " length " << length << " seed " << Catch::getSeed());
          REQUIRE(memory == expected);
        }
      }
    }
  });
}

TEST_CASE("Fake-quantize is dequantize after quantize, to the last bit", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    const CodeKernelSet& set = numeric::simd_code_kernels();
    for (const NumberFormat format : kernel_cases::quantize_formats()) {
      const Job job = make_job(format, kKernels[0], 1999, 1, random);
      const std::vector<std::uint8_t> in = input_for(job, kKernels[0], random);
      std::vector<std::uint8_t> codes(job.count() * job.code_bytes());
      std::vector<std::uint8_t> through_codes(in.size());
      std::vector<std::uint8_t> direct(in.size());
      kKernels[0].run(set, job, in.data(), codes.data());
      kKernels[2].run(set, job, codes.data(), through_codes.data());
      kKernels[4].run(set, job, in.data(), direct.data());
      INFO(job.info->name << " seed " << Catch::getSeed());
      REQUIRE(direct == through_codes);
    }
  });
}

TEST_CASE("Nibbles are packed low half first, and come back", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    const CodeKernelSet& set = numeric::simd_code_kernels();
    for (const std::size_t length : kernel_cases::lengths()) {
      for (const bool is_signed : {false, true}) {
        std::vector<std::uint8_t> codes(length);
        for (std::uint8_t& code : codes) {
          code = static_cast<std::uint8_t>(is_signed ? static_cast<int>(random() % 16) - 8
                                                     : static_cast<int>(random() % 16));
        }
        GuardedBytes packed((length + 1) / 2, 1);
        set.pack_nibbles(codes.data(), length, packed.data());
        REQUIRE(packed.intact());
        for (std::size_t i = 0; i < length; ++i)
          REQUIRE(((packed.data()[i / 2] >> (4 * (i % 2))) & 15) == (codes[i] & 15));
        if (length % 2 == 1) REQUIRE(packed.data()[length / 2] >> 4 == 0);
        GuardedBytes unpacked(length, 3);
        set.unpack_nibbles(packed.data(), length, is_signed, unpacked.data());
        REQUIRE(unpacked.contents() == codes);
        REQUIRE(unpacked.intact());
      }
    }
  });
}

TEST_CASE("Quarters of a byte are packed lowest bits first, and come back", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    const CodeKernelSet& set = numeric::simd_code_kernels();
    for (const std::size_t length : kernel_cases::lengths()) {
      for (const bool is_signed : {false, true}) {
        INFO("length " << length << ", signed " << is_signed << ", seed " << Catch::getSeed());
        std::vector<std::uint8_t> codes(length);
        for (std::uint8_t& code : codes)
          code = static_cast<std::uint8_t>(static_cast<int>(random() % 4) - (is_signed ? 2 : 0));
        GuardedBytes packed((length + 3) / 4, 1);
        set.pack_quarters(codes.data(), length, packed.data());
        REQUIRE(packed.intact());
        for (std::size_t i = 0; i < length; ++i)
          REQUIRE(((packed.data()[i / 4] >> (2 * (i % 4))) & 3) == (codes[i] & 3));
        if (length % 4 != 0) REQUIRE(packed.data()[length / 4] >> (2 * (length % 4)) == 0);
        GuardedBytes unpacked(length, 3);
        set.unpack_quarters(packed.data(), length, is_signed, unpacked.data());
        REQUIRE(unpacked.contents() == codes);
        REQUIRE(unpacked.intact());
      }
    }
  });
}

}  // namespace
}  // namespace halftone
