// training_gpu_check [--damage] [--no-timing]: compares every training kernel on this machine's GPU
// with the host's, then whole steps of llm tiny and dlrm tiny, and times GPT-2 124M and
// Llama-3.2-1B. Prints one JSON object. Exit code 0: all comparisons passed; 1: one failed; 77: no
// GPU. With --damage one element of each result is changed before it is compared: all comparisons
// must fail then.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "devices/cuda/cuda_device.h"
#include "tests/gpu/training_timing.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/kernel_cases.h"
#include "training/cuda/cuda_training_kernels.h"
#include "training/host/host_kernels.h"
#include "training/parallel/training_kernels.h"

namespace bench::training {
namespace {

Json check_kernels(const KernelFactory& kernels, bool damage, bool& all_held) {
  Json rows = Json::array();
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const KernelSet tested = kernels(dtype), host = host_kernels(dtype);
    const double tolerance = kernel_tolerance(dtype);
    for (const KernelCase& one : kernel_cases(dtype)) {
      const KernelDifference difference = compare_kernels(one, tested, host);
      const double worst = damage ? difference.damaged : difference.found;
      const bool held = worst < tolerance;
      all_held = all_held && held;
      rows.push_back({{"kernel", one.name},
                      {"dtype", to_string(dtype)},
                      {"worst", std::isfinite(worst) ? Json(worst) : Json(nullptr)},
                      {"tolerance", tolerance},
                      {"held", held}});
    }
  }
  return rows;
}

/// The losses and gradient norms of a few steps with these kernels.
using Steps = std::function<std::vector<double>(const KernelFactory& kernels)>;

Json compare_steps(const char* model, Dtype dtype, const Steps& steps, const KernelFactory& kernels,
                   bool& all_held) {
  const auto host = steps([](Dtype of) { return host_kernels(of); });
  const auto gpu = steps(kernels);
  const double tolerance = dtype == Dtype::f32 ? 1e-4 : dtype == Dtype::bf16 ? 2e-2 : 3e-3;
  bool held = host.size() == gpu.size();
  for (std::size_t i = 0; i < host.size() && held; ++i)
    held = std::abs(host[i] - gpu[i]) <= tolerance * std::abs(host[i]);
  const bool again_equal = gpu == steps(kernels);
  all_held = all_held && held && again_equal;
  return {{"model", model}, {"dtype", to_string(dtype)},  {"host", host},
          {"gpu", gpu},     {"again_equal", again_equal}, {"held", held}};
}

/// Five steps of each model, so that recorded CUDA graphs are included.
Json check_steps(const KernelFactory& kernels, bool& all_held) {
  constexpr int kSteps = 5;
  Json rows = Json::array();
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const Steps steps = [&](const KernelFactory& of) { return train_steps(of, dtype, kSteps); };
    rows.push_back(compare_steps("llm", dtype, steps, kernels, all_held));
  }
  const Steps steps = [](const KernelFactory& of) { return train_dlrm_steps(of, kSteps); };
  rows.push_back(compare_steps("dlrm", Dtype::f32, steps, kernels, all_held));
  return rows;
}

/// The kernels' name, which states whether a library's attention differs from our own.
std::string agreeing(const TrainingKernels& kernels, bool& all_held) {
  const std::string name = kernels.name();
  all_held = all_held && name.find("differs from own") == std::string::npos;
  return name;
}

int run(bool damage, bool timing) {
  const auto device = make_cuda_device({}, make_cuda_training_kernels);
  if (!device->absent().empty()) {
    std::fprintf(stderr, "training_gpu_check: %s\n", device->absent().c_str());
    return 77;
  }
  TrainingKernels& offered = *device->training_kernels();
  const KernelFactory kernels = [&](Dtype dtype) { return offered.make(dtype); };
  bool all_held = true;
  Json record = {{"device", device->facts()}, {"damage", damage}};
  record["kernels"] = check_kernels(kernels, damage, all_held);
  record["kernels_by"] = agreeing(offered, all_held);
  offered.begin(true);
  if (!damage) record["steps"] = check_steps(kernels, all_held);
  offered.begin(false);
  if (timing && !damage) record["timings"] = time_models(kernels);
  record["library"] = agreeing(offered, all_held);
  record["held"] = all_held;
  std::printf("%s\n", record.dump(1).c_str());
  return all_held ? 0 : 1;
}

}  // namespace
}  // namespace bench::training

int main(int argc, char** argv) try {
  bool damage = false, timing = true;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--damage") damage = true;
    if (std::string_view(argv[i]) == "--no-timing") timing = false;
  }
  return bench::training::run(damage, timing);
} catch (const std::exception& error) {
  std::fprintf(stderr, "training_gpu_check: %s\n", error.what());
  return 1;
}
