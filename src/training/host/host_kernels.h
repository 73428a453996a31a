// The CPU's kernels, for one thread. The instruction set is chosen at run time.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "training/kernels/kernel_set.h"
#include "training/parallel/training_kernels.h"

namespace bench {

/// Training on the CPU.
std::unique_ptr<TrainingKernels> make_host_training_kernels();

namespace training {

/// The best kernels of this CPU, or those of $BENCH_TRAINING_ISA. Tensors in bf16 or f16 are
/// widened to f32 for each call and rounded after it. Throws Error(input) for other types than
/// these, f32 and f64, or an instruction set that this CPU lacks.
KernelSet host_kernels(Dtype dtype);
/// By name: "baseline", "avx2", "avx512".
KernelSet host_kernels(Dtype dtype, std::string_view isa);
/// The instruction set that host_kernels(dtype) uses.
std::string_view host_kernel_isa();
/// The instruction sets of this CPU, best first.
std::vector<std::string_view> host_kernel_isas();

KernelSet baseline_kernels(Dtype dtype);
KernelSet avx2_kernels(Dtype dtype);
KernelSet avx512_kernels(Dtype dtype);

}  // namespace training
}  // namespace bench
