#include "devices/host/cpu_features.h"

#include <algorithm>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace bench {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// All zero for an unsupported leaf.
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

bool bit(unsigned value, int index) { return ((value >> index) & 1u) != 0; }

/// Register states saved by the operating system; 0 for none beyond SSE.
std::uint64_t saved_states() {
  if (!bit(cpuid(1).c, 27)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool request_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void read_identity(CpuFeatures& cpu) {
  const Registers zero = cpuid(0);
  char vendor[13] = {};
  std::memcpy(vendor, &zero.b, 4);
  std::memcpy(vendor + 4, &zero.d, 4);
  std::memcpy(vendor + 8, &zero.c, 4);
  cpu.vendor = vendor;
  const unsigned signature = cpuid(1).a;
  const unsigned family = (signature >> 8) & 0xf;
  cpu.family = static_cast<int>(family == 0xf ? family + ((signature >> 20) & 0xff) : family);
  cpu.model = static_cast<int>(((signature >> 4) & 0xf) | ((signature >> 12) & 0xf0));
}

CpuFeatures detect() {
  CpuFeatures cpu;
  read_identity(cpu);
  const std::uint64_t states = saved_states();
  const bool ymm = (states & 0x6) == 0x6;
  const bool zmm = (states & 0xe6) == 0xe6;
  const bool tiles = (states & 0x60000) == 0x60000;
  const Registers one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1);
  cpu.under_hypervisor = bit(one.c, 31);
  cpu.avx2_fma = ymm && bit(seven.b, 5) && bit(one.c, 12);
  cpu.avx_vnni = cpu.avx2_fma && bit(seven_one.a, 4);
  cpu.avx512 = zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31);
  cpu.avx512_bf16 = cpu.avx512 && bit(seven_one.a, 5);
  cpu.avx512_vnni = cpu.avx512 && bit(seven.c, 11);
  if (tiles && bit(seven.d, 24) && request_tiles()) {
    cpu.amx_bf16 = bit(seven.d, 22);
    cpu.amx_int8 = bit(seven.d, 25);
    cpu.amx_fp16 = bit(seven_one.a, 21);
  }
  return cpu;
}

#elif defined(__aarch64__)

CpuFeatures detect() {
  CpuFeatures cpu;
  const unsigned long one = getauxval(AT_HWCAP), two = getauxval(AT_HWCAP2);
  cpu.neon = (one & (1ul << 1)) != 0;           // HWCAP_ASIMD
  cpu.neon_dotprod = (one & (1ul << 20)) != 0;  // HWCAP_ASIMDDP
  cpu.neon_i8mm = (two & (1ul << 13)) != 0;     // HWCAP2_I8MM
  cpu.neon_bf16 = (two & (1ul << 14)) != 0;     // HWCAP2_BF16
  return cpu;
}

#else

CpuFeatures detect() { return {}; }

#endif

}  // namespace

namespace {

bool is_one_of(int model, std::initializer_list<int> models) {
  return std::ranges::find(models, model) != models.end();
}

/// Vector instructions as they came one after the other.
enum class Vectors { avx2, avx512, avx512_bf16, amx };

Vectors widest_of(const CpuFeatures& cpu) {
  if (cpu.amx_bf16 || cpu.amx_int8) return Vectors::amx;
  if (cpu.avx512_bf16) return Vectors::avx512_bf16;
  return cpu.avx512 ? Vectors::avx512 : Vectors::avx2;
}

/// A kind of core: its rates, and the most that it has.
struct KnownCore {
  IssueRates rates = {};
  Vectors most = Vectors::amx;
};

/// Family 6. Ports 0 and 5 of servers execute 512 bits each, of notebooks and desktops port 0
/// alone.
KnownCore intel_core(int model) {
  constexpr double kTileCycles = 16.0;
  if (is_one_of(model, {0x8f, 0xcf}))  // Sapphire and Emerald Rapids: a vdpbf16ps every two cycles
    return {{2.0, 0.5, 2.0, 2.0, 2.0, 1.0 / kTileCycles}, Vectors::amx};
  if (model == 0x55)  // Skylake to Cooper Lake
    return {{.fma512 = 2.0, .int8_512 = 2.0, .fma256 = 2.0}, Vectors::avx512_bf16};
  if (is_one_of(model, {0x6a, 0x6c}))  // Ice Lake, servers
    return {{.fma512 = 2.0, .int8_512 = 2.0, .fma256 = 2.0}, Vectors::avx512};
  if (is_one_of(model, {0x7d, 0x7e, 0x8c, 0x8d, 0xa7}))  // Ice, Tiger and Rocket Lake
    return {{.fma512 = 1.0, .int8_512 = 1.0, .fma256 = 2.0}, Vectors::avx512};
  if (is_one_of(model, {0x97, 0x9a, 0xb7, 0xba, 0xbf}))  // Alder and Raptor Lake
    return {{.fma256 = 2.0, .int8_256 = 2.0}, Vectors::avx2};
  if (is_one_of(model, {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x8e, 0x9e,
                        0xa5, 0xa6}))  // Haswell to Comet Lake
    return {{.fma256 = 2.0}, Vectors::avx2};
  return {};
}

KnownCore amd_core(int family, int model) {
  if (family == 0x17) return {{.fma256 = 2.0}, Vectors::avx2};  // Zen 1 half of that
  if (family == 0x19)  // Zen 4 executes 512-bit instructions in two halves, Zen 3 has none
    return {{1.0, 1.0, 1.0, 2.0, {}, {}}, Vectors::avx512_bf16};
  const bool full_width = model < 0x20 || (model >= 0x40 && model < 0x50);  // of Zen 5
  if (family == 0x1a && full_width) return {{2.0, 2.0, 2.0, 2.0, 2.0, {}}, Vectors::avx512_bf16};
  return {};
}

}  // namespace

IssueRates issue_rates(const CpuFeatures& cpu) {
  KnownCore core;
  if (cpu.vendor == "GenuineIntel" && cpu.family == 6) core = intel_core(cpu.model);
  if (cpu.vendor == "AuthenticAMD") core = amd_core(cpu.family, cpu.model);
  return widest_of(cpu) <= core.most ? core.rates : IssueRates();
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

}  // namespace bench
