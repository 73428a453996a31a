#include "probes/backends/cuda/injected_fault.h"

#include <cstdlib>
#include <string_view>

#include "probes/backends/cuda/cuda_error.h"

namespace bench {
namespace {

bool asked_for() {
  const char* fault = std::getenv("BENCH_FAULT");
  return fault != nullptr && std::string_view(fault) == "bit_flip";
}

}  // namespace

void inject_fault(void* byte) {
  if (asked_for()) *static_cast<std::byte*>(byte) ^= std::byte{1};
}

void inject_fault_on_gpu(void* byte) {
  if (!asked_for()) return;
  std::byte value{};
  check(cudaDeviceSynchronize(), "wait before a fault is injected");
  check(cudaMemcpy(&value, byte, 1, cudaMemcpyDefault), "read a byte");
  value ^= std::byte{1};
  check(cudaMemcpy(byte, &value, 1, cudaMemcpyDefault), "inject a fault");
}

}  // namespace bench
