// The loops with AVX-512 and its dot products of bytes.
#include "core/compiled_for.h"
#include "inference/decoder_kernels.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
BENCH_COMPILED_FOR("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma",
                   "prefer-vector-width=512")
#define BENCH_ISA isa_avx512_vnni
#define BENCH_VECTOR_BYTES 64
#define BENCH_VECTOR_REGISTERS 32
#define BENCH_DOT_OF_BYTES(sum, weights, inputs) \
  (Ints) _mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(weights), (__m512i)(inputs))
#include "inference/decoder_kernels_of.h"

namespace bench::inference {

const DecoderKernels kVnniDecoder = {"avx512_vnni", isa_avx512_vnni::round_row,
                                     isa_avx512_vnni::multiply, isa_avx512_vnni::attend};

}  // namespace bench::inference
BENCH_COMPILED_FOR_END
#endif
