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

TEST_CASE("a CPU with instructions that its named model lacks is another one") {
  CpuFeatures rocket_lake{.vendor = "GenuineIntel", .family = 6, .model = 0xa7, .avx512 = true};
  CHECK(issue_rates(rocket_lake).fma512 == 1.0);
  rocket_lake.amx_int8 = true;  // as a virtual machine on Granite Rapids said
  CHECK_FALSE(issue_rates(rocket_lake).fma512);
  CHECK_FALSE(issue_rates(rocket_lake).fma256);
  CpuFeatures haswell{.vendor = "GenuineIntel", .family = 6, .model = 0x3f};
  CHECK(issue_rates(haswell).fma256 == 2.0);
  haswell.avx512 = true;
  CHECK_FALSE(issue_rates(haswell).fma256);
  const CpuFeatures sapphire{
      .vendor = "GenuineIntel", .family = 6, .model = 0x8f, .amx_int8 = true};
  CHECK(issue_rates(sapphire).tile);
  const CpuFeatures zen4{
      .vendor = "AuthenticAMD", .family = 0x19, .model = 0x11, .avx512_bf16 = true};
  CHECK(issue_rates(zen4).bf16_512 == 1.0);
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
