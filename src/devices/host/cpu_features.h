// Arithmetic instructions that this CPU has and the operating system enables. Detected at run time:
// one program serves every machine.
#pragma once

#include <optional>
#include <string>

namespace bench {

struct CpuFeatures {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD"; "" on ARM
  int family = 0;
  int model = 0;
  bool under_hypervisor = false;  // which chooses the model that is read here
  // x86-64
  bool avx2_fma = false;
  bool avx_vnni = false;
  bool avx512 = false;  // F, BW, DQ and VL together
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool amx_fp16 = false;
  // aarch64
  bool neon = false;
  bool neon_bf16 = false;
  bool neon_i8mm = false;
  bool neon_dotprod = false;
};

/// Instructions that one core can issue per cycle; nothing where they are not known for this model,
/// or where the CPU has instructions that the model usually lacks: it is another one, or differs.
struct IssueRates {
  std::optional<double> fma512 = {}, bf16_512 = {}, int8_512 = {};  // vdpbf16ps, vpdpbusd
  std::optional<double> fma256 = {}, int8_256 = {};
  std::optional<double> tile = {};  // AMX
};
IssueRates issue_rates(const CpuFeatures& cpu);

/// Detected once; also requests AMX tile registers from the kernel, which a process must do.
const CpuFeatures& cpu_features();

}  // namespace bench
