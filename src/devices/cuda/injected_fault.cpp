#include "devices/cuda/injected_fault.h"

#include <cstdlib>
#include <string_view>

#include "devices/cuda/cuda_error.h"

namespace bench {
namespace {

bool asked_for(std::string_view kind = "bit_flip") {
  const char* fault = std::getenv("BENCH_FAULT");
  return fault != nullptr && fault == kind;
}

void flip_on_gpu(void* byte) {
  std::byte value{};
  check(cudaDeviceSynchronize(), "synchronise before injecting a fault");
  copy_now(&value, byte, 1, "read a byte");
  value ^= std::byte{1};
  copy_now(byte, &value, 1, "inject a fault");
}

}  // namespace

void inject_fault(void* byte) {
  if (asked_for()) *static_cast<std::byte*>(byte) ^= std::byte{1};
}

void inject_huge_value(std::span<std::byte> values, std::size_t size) {
  if (!asked_for()) return;
  constexpr std::byte kTop{0x40};  // in a value's last byte
  std::size_t at = size - 1;
  while (at < values.size() && (values[at] & kTop) != std::byte{0}) at += size;
  values[at < values.size() ? at : size - 1] ^= kTop;
}

void inject_fault_on_gpu(void* byte) {
  if (asked_for()) flip_on_gpu(byte);
}

void inject_rare_fault_on_gpu(void* byte) {
  if (asked_for("rare_flip")) flip_on_gpu(byte);
}

}  // namespace bench
