#include "inference/decoder_kernels.h"

#include <algorithm>
#include <string>

#include "core/child_process.h"
#include "core/error.h"

namespace bench::inference {

std::vector<const DecoderKernels*> all_decoder_kernels() {
  std::vector<const DecoderKernels*> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    if (__builtin_cpu_supports("avx512vnni")) found.push_back(&kVnniDecoder);
    found.push_back(&kAvx512Decoder);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back(&kAvx2Decoder);
#endif
  found.push_back(&kBaselineDecoder);
  return found;
}

const DecoderKernels& decoder_kernels() {
  const auto all = all_decoder_kernels();
  const std::string asked = environment_variable("BENCH_TRAINING_ISA");
  if (asked.empty()) return *all.front();
  // avx512 stands for the best with its vectors.
  const auto found = std::ranges::find_if(all, [&](const DecoderKernels* one) {
    return one->isa == asked || (asked == "avx512" && one->isa.starts_with(asked));
  });
  if (found == all.end())
    throw Error(ErrorKind::input, "this CPU does not support kernels '" + asked + "'",
                "use baseline, which runs on every CPU");
  return **found;
}

}  // namespace bench::inference
