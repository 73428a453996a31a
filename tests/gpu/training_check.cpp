// training_gpu_check [kernels|steps|timings|MODEL]... [--damage] [--named TEXT]...: compares every
// training kernel on this machine's GPU with the host's, then whole steps of llm tiny and dlrm
// tiny, and times GPT-2 124M (gpt2) and the shape of Llama-3.2-1B (llama_1b); by default all of it.
// --named takes only kernels whose name contains TEXT. Prints one JSON object. Exit code 0: all
// comparisons passed; 1: one failed; 2: a wrong option; 77: no GPU. With --damage one element of
// each kernel's result is changed before it is compared: all comparisons must fail then.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
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

struct Options {
  bool kernels = false, steps = false, damage = false;
  std::vector<std::string> models = {};  // to be timed
  std::vector<std::string> named = {};   // parts of kernels' names, any of which it must have
};

Json check_kernels(const KernelFactory& kernels, const Options& options, bool& all_held) {
  Json rows = Json::array();
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const KernelSet tested = kernels(dtype), host = host_kernels(dtype);
    const double tolerance = kernel_tolerance(dtype);
    for (const KernelCase& one : kernel_cases(dtype)) {
      const auto has = [&](const std::string& part) {
        return one.name.find(part) != std::string::npos;
      };
      if (!options.named.empty() && std::ranges::none_of(options.named, has)) continue;
      const KernelDifference difference = compare_kernels(one, tested, host);
      const double worst = options.damage ? difference.damaged : difference.found;
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

/// Paths of NVIDIA's libraries in this process.
Json loaded_libraries() {
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string file = line.substr(line.rfind('/') + 1);
    for (const char* name : {"libcu", "libnccl", "libnv"})
      if (file.starts_with(name)) paths.insert(line.substr(path));
  }
  return paths;
}

int run(const Options& options) {
  const auto device = make_cuda_device({}, make_cuda_training_kernels);
  if (!device->absent().empty()) {
    std::fprintf(stderr, "training_gpu_check: %s\n", device->absent().c_str());
    return 77;
  }
  TrainingKernels& offered = *device->training_kernels();
  const KernelFactory kernels = [&](Dtype dtype) { return offered.make(dtype); };
  bool all_held = true;
  Json record = {{"device", device->facts()}, {"damage", options.damage}};
  if (options.kernels) record["kernels"] = check_kernels(kernels, options, all_held);
  record["kernels_by"] = agreeing(offered, all_held);
  offered.begin(true);
  if (options.steps) record["steps"] = check_steps(kernels, all_held);
  offered.begin(false);
  if (!options.models.empty()) record["timings"] = time_models(kernels, options.models);
  record["library"] = agreeing(offered, all_held);
  record["libraries"] = loaded_libraries();
  record["held"] = all_held;
  std::printf("%s\n", record.dump(1).c_str());
  return all_held ? 0 : 1;
}

Options options_from(const std::vector<std::string>& words) {
  Options options;
  const std::vector<std::string> known = timed_models();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "kernels")
      options.kernels = true;
    else if (word == "steps")
      options.steps = true;
    else if (word == "timings")
      options.models = known;
    else if (std::ranges::find(known, word) != known.end())
      options.models.push_back(word);
    else if (word == "--damage")
      options.damage = true;
    else if (word == "--named" && i + 1 < words.size())
      options.named.push_back(words[++i]);
    else
      throw Error(ErrorKind::usage, "there is no option " + word,
                  "name kernels, steps, timings, gpt2 or llama_1b, --damage or --named TEXT");
  }
  const bool all = !options.kernels && !options.steps && options.models.empty();
  if (options.damage || all) options.kernels = true;
  if (!options.damage && all) options.steps = true, options.models = known;
  return options;
}

}  // namespace
}  // namespace bench::training

int main(int argc, char** argv) try {
  return bench::training::run(bench::training::options_from({argv + 1, argv + argc}));
} catch (const bench::Error& error) {
  std::fprintf(stderr, "training_gpu_check: %s\n", error.text().c_str());
  return error.kind() == bench::ErrorKind::usage ? 2 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "training_gpu_check: %s\n", error.what());
  return 1;
}
