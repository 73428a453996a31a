// The loops with AVX2 and FMA.
#include "core/compiled_for.h"
#include "inference/decoder_kernels.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
BENCH_COMPILED_FOR("avx2,fma")
#define BENCH_ISA isa_avx2
#define BENCH_VECTOR_BYTES 32
#define BENCH_VECTOR_REGISTERS 16
#include "inference/decoder_kernels_of.h"

namespace bench::inference {

const DecoderKernels kAvx2Decoder = {"avx2", isa_avx2::round_row, isa_avx2::multiply,
                                     isa_avx2::attend};

}  // namespace bench::inference
BENCH_COMPILED_FOR_END
#endif
