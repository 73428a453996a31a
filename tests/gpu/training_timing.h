// Losses and timings of language model steps on synthetic tokens.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

/// The losses and gradient norms of the first steps of llm tiny's shape; equal on every device but
/// for rounding.
std::vector<double> train_steps(const KernelFactory& kernels, Dtype dtype, int steps);

/// GPT-2 124M (batch 64, length 1024; its vocabulary padded to 50304, as llm.c and nanoGPT do) and
/// Llama-3.2-1B's shape (length 4096) in bf16: [{model, batch, sequence, seconds,
/// tokens_per_second, model_flops}], the seconds the median of 20 steps after 5.
Json time_models(const KernelFactory& kernels, const std::vector<std::string>& models);
/// The models that can be timed.
std::vector<std::string> timed_models();

}  // namespace bench::training
