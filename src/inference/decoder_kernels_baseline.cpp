// The loops that every CPU runs.
#include "core/compiled_for.h"
#include "inference/decoder_kernels.h"
#include "training/host/before_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BENCH_ISA isa_baseline
#define BENCH_VECTOR_BYTES 16
#define BENCH_VECTOR_REGISTERS 16
#include "inference/decoder_kernels_of.h"

namespace bench::inference {

const DecoderKernels kBaselineDecoder = {"baseline", isa_baseline::round_row,
                                         isa_baseline::multiply, isa_baseline::attend};

}  // namespace bench::inference
