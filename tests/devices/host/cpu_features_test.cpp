#include "devices/host/cpu_features.h"

#include "devices/host/kernels_compute.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

IssueRates rates_of(const char* vendor, int family, int model) {
  CpuFeatures cpu;
  cpu.vendor = vendor;
  cpu.family = family;
  cpu.model = model;
  return issue_rates(cpu);
}

TEST_CASE("Sapphire and Emerald Rapids issue a vdpbf16ps every two cycles") {
  for (const int model : {0x8f, 0xcf}) {
    const IssueRates rates = rates_of("GenuineIntel", 6, model);
    CHECK(rates.bf16_512 == 0.5);
    CHECK(rates.fma512 == 2.0);
    CHECK(rates.int8_512 == 2.0);
  }
}

TEST_CASE("Zen 4 issues one 512-bit instruction a cycle, full-width Zen 5 two") {
  const IssueRates zen4 = rates_of("AuthenticAMD", 0x19, 0x11);
  CHECK(zen4.fma512 == 1.0);
  CHECK(zen4.bf16_512 == 1.0);
  CHECK(zen4.fma256 == 2.0);
  CHECK(rates_of("AuthenticAMD", 0x1a, 0x02).bf16_512 == 2.0);
}

TEST_CASE("the issue rates of other models are not known") {
  CHECK_FALSE(rates_of("GenuineIntel", 6, 0x55).bf16_512);  // Cooper Lake
  for (const auto& rates : {rates_of("GenuineIntel", 6, 0xff), rates_of("GenuineIntel", 19, 1),
                            rates_of("AuthenticAMD", 0x1a, 0x24), rates_of("AuthenticAMD", 0x1b, 0),
                            rates_of("", 0, 0), rates_of("HygonGenuine", 0x18, 0)}) {
    CHECK_FALSE(rates.fma512);
    CHECK_FALSE(rates.fma256);
    CHECK_FALSE(rates.tile);
  }
}

TEST_CASE("every stream of this CPU has a rate, and says whether its model is known") {
  const IssueRates known = issue_rates(cpu_features());
  for (const ComputeKernel& kernel : compute_kernels()) {
    CHECK(kernel.stream.most_per_cycle > 0.0);
    if (kernel.stream.isa == "avx2" && kernel.stream.dtype == Dtype::f32)
      CHECK(kernel.stream.bound_is_known == known.fma256.has_value());
    if (kernel.stream.isa == "neon") CHECK_FALSE(kernel.stream.bound_is_known);
  }
}

}  // namespace
}  // namespace bench
