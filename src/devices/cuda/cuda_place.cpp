#include "devices/cuda/cuda_place.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "devices/cuda/availability.h"
#include "devices/cuda/cuda_device.h"
#include "devices/facts/nearness.h"
#include "devices/host/topology_hwloc.h"

namespace bench {
namespace {

/// "0000:3b:00.0" as the kernel writes it; "" where CUDA does not say.
std::string pci_address(int gpu) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), gpu) != cudaSuccess)
    return "";
  return to_lower(text.data());
}

RankPlace place_of(const std::string& address) {
  if (address.empty()) return {address, {}, {}, "CUDA does not report the GPU's PCI address"};
  try {
    return place_rank(read_hwloc(), address);
  } catch (const Error& error) {
    return {address, {}, {}, error.what()};
  }
}

}  // namespace

Json place_near_gpu() {
  const CudaAnswer answer = ask_cuda();
  const int gpu = gpu_of_rank(answer, local_rank());
  if (!cuda_obstacle(answer, gpu).empty()) return nullptr;
  const RankPlace place = place_of(pci_address(gpu));
  const NodeBinding binding =
      place.node ? bind_to_node(*place.node) : NodeBinding{{}, false, place.unknown};
  Json json = to_json(place);
  json["cpus"] = binding.cpus.empty() ? Json(nullptr) : Json(binding.cpus);
  json["memory_bound"] = binding.memory;
  json["reason"] = binding.obstacle.empty() ? Json(nullptr) : Json(binding.obstacle);
  return json;
}

}  // namespace bench
