// What an installed cuDNN says of the graphs that are made for it, without a GPU: it takes them,
// and proposes engines for an H200 that it is told about.
#include <dlfcn.h>

#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "training/cuda/cudnn/attention_graphs.h"
#include "training/cuda/cudnn/execution_plan.h"

namespace bench::cudnn {
namespace {

using Catch::Matchers::Contains;

/// As cuDNN 9.19 describes an H200.
constexpr const char* kH200 =
    R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
    R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
    R"("maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,)"
    R"("maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
    R"("maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,)"
    R"("totalGlobalMem":150754820096,"smClockRateKHz":1980000,"memClockRateKHz":3201000,)"
    R"("l2CacheSize":62914560,"cudaDeviceId":0,"deviceVer":900,"driverVer":13000,)"
    R"("deviceName":"NVIDIA H200"})";

struct Model {
  const char* name;
  AttentionProblem problem;
};

/// GPT-2 124M at 64 x 1024, Llama-3.2-1B's shape at 4 x 4096, and all keys seen.
std::vector<Model> models() {
  return {{"gpt2", {{1024, 12, 12, 64, true, 0}, 64, Dtype::bf16}},
          {"1b", {{4096, 32, 8, 64, true, 0}, 4, Dtype::bf16}},
          {"8b", {{8192, 32, 8, 128, true, 0}, 1, Dtype::bf16}},
          {"all seen, f16", {{1024, 16, 16, 128, false, 0}, 8, Dtype::f16}}};
}

/// Null, after a warning, where there is no cuDNN.
const Library* installed() {
  static const Library library;
  if (!library.problem().empty()) WARN("skipped: " << library.problem());
  return library.problem().empty() ? &library : nullptr;
}

std::vector<OperationGraph> passes(const AttentionProblem& problem) {
  return {attention_forward_graph(problem), attention_backward_graph(problem)};
}

/// Its heuristics look for a driver; the toolkit's stub of that name is enough for them.
bool has_driver() {
  const std::string stub = BENCH_CUDA_STUB;
  return dlopen("libcuda.so.1", RTLD_NOW) != nullptr ||
         (!stub.empty() && dlopen(stub.c_str(), RTLD_NOW) != nullptr);
}

}  // namespace

TEST_CASE("cuDNN accepts the attention graphs, forward and backward") {
  const Library* library = installed();
  if (library == nullptr) return;
  for (const Model& model : models())
    for (const OperationGraph& graph : passes(model.problem)) {
      INFO("cuDNN " << library->version() << ", " << model.name);
      CHECK_NOTHROW(BackendGraph(*library, graph));
    }
}

TEST_CASE("cuDNN proposes engines for the attention graphs on an H200") {
  const Library* library = installed();
  if (library == nullptr) return;
  if (!has_driver()) {
    WARN("skipped: there is no libcuda.so.1, and no stub of it as " << BENCH_CUDA_STUB);
    return;
  }
  const Descriptor h200 = described_device(*library, kH200);
  for (const Model& model : models())
    for (const OperationGraph& graph : passes(model.problem)) {
      INFO("cuDNN " << library->version() << ", " << model.name << ", " << graph.operations.size()
                    << " operations");
      const BackendGraph described(*library, graph);
      CHECK(!proposed_engines(*library, described, &h200).empty());
    }
}

TEST_CASE("cuDNN proposes no engine for a graph that only resembles attention") {
  const Library* library = installed();
  if (library == nullptr || !has_driver()) return;
  const Descriptor h200 = described_device(*library, kH200);
  OperationGraph graph = attention_backward_graph(models().front().problem);
  for (GraphOperation& operation : graph.operations)
    if (operation.mode == PointwiseMode::exponential) operation.mode = PointwiseMode::logarithm;
  const BackendGraph described(*library, graph);
  CHECK_THROWS_WITH(proposed_engines(*library, described, &h200), Contains("cuDNN has no engine"));
}

TEST_CASE("cuDNN refuses a graph with mismatched sizes, naming the part") {
  const Library* library = installed();
  if (library == nullptr) return;
  OperationGraph graph = attention_forward_graph(models().front().problem);
  for (GraphTensor& tensor : graph.tensors)
    if (tensor.id == kValue) tensor.sizes[2] /= 2;
  CHECK_THROWS_WITH(BackendGraph(*library, graph), Contains("cuDNN: finalize"));
}

}  // namespace bench::cudnn
