// The loops with AVX-512.
#include "core/compiled_for.h"
#include "inference/decoder_kernels.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
BENCH_COMPILED_FOR("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", "prefer-vector-width=512")
#define BENCH_ISA isa_avx512
#define BENCH_VECTOR_BYTES 64
#define BENCH_VECTOR_REGISTERS 32
#include "inference/decoder_kernels_of.h"

namespace bench::inference {

const DecoderKernels kAvx512Decoder = {"avx512", isa_avx512::round_row, isa_avx512::multiply,
                                       isa_avx512::attend};

}  // namespace bench::inference
BENCH_COMPILED_FOR_END
#endif
