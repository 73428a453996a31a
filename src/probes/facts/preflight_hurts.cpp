// The sentences of preflight_facts: what is wrong on a GPU host, what it does, what to do.
#include <fmt/format.h>

#include "core/text.h"
#include "probes/facts/preflight_facts.h"

namespace bench {
namespace {

// NCCL puts a few tens of MiB for each pair of ranks there; Docker's default of 64 MiB is too
// small.
constexpr double kSmallSharedMemory = 1e9;

using Warnings = std::vector<std::string>;

bool is_array_with_entries(const Json& fact) { return fact.is_array() && !fact.empty(); }

/// "GPU 1: python3 with pid 4711, GPU 2: one with pid 99".
std::string who(const Json& processes) {
  constexpr std::size_t kMostShown = 4;
  std::vector<std::string> named;
  for (const Json& process : processes) {
    if (named.size() == kMostShown) {
      named.push_back(fmt::format("and {} more", processes.size() - kMostShown));
      break;
    }
    const Json& name = process.at("name");
    named.push_back(fmt::format("GPU {}: {} with pid {}", process.at("gpu").get<int>(),
                                name.is_string() ? name.get<std::string>() : "one",
                                process.at("pid").get<int>()));
  }
  return join(named, ", ");
}

void look_at_gpus(const Json& facts, Warnings& warnings) {
  const Json& foreign = facts.at("foreign_processes");
  if (is_array_with_entries(foreign))
    warnings.push_back(fmt::format(
        "{} foreign process{} on the GPUs ({}): the numbers are of what is left; wait for them to "
        "end",
        foreign.size(), foreign.size() == 1 ? " is" : "es are", who(foreign)));
  const Json& off = facts.at("persistence_off");
  if (is_array_with_entries(off) && facts.at("persistence_daemon") != true)
    warnings.push_back(fmt::format(
        "persistence mode is off on {} GPUs: each first use loads the driver anew, which takes "
        "seconds and forgets clocks; nvidia-smi -pm 1, or start nvidia-persistenced",
        off.size()));
}

void look_at_software(const Json& facts, Warnings& warnings) {
  if (facts.at("nvswitches") == true && facts.at("fabric_manager") != true)
    warnings.push_back(
        "there are NVSwitches and no fabric manager is to be seen: CUDA may not start, or GPUs not "
        "reach each other; systemctl start nvidia-fabricmanager (in a container it is not seen)");
  if (facts.at("peer_memory") == "none" && facts.at("infiniband_cards") > 0 && facts.at("gpus") > 0)
    warnings.push_back(
        "nvidia_peermem is not loaded: the network cards reach GPU memory only where they support "
        "dma-buf, else data goes through host memory; modprobe nvidia_peermem");
  const Json& shared = facts.at("shared_memory_bytes");
  if (shared.is_number() && shared < kSmallSharedMemory)
    warnings.push_back(fmt::format(
        "/dev/shm is only {}: NCCL and data loaders fail or crawl; mount it larger (docker run "
        "--shm-size=16g)",
        format(Bytes{shared.get<double>()})));
}

void look_at_bridges(const Json& facts, Warnings& warnings) {
  const Json& acs = facts.at("acs");
  const Json redirecting = acs.value("redirecting", Json::array());
  if (!redirecting.empty())
    warnings.push_back(fmt::format(
        "{} PCI bridges redirect the traffic between devices to the processor (ACS), e.g. {}: peer "
        "copies and GPUDirect lose bandwidth; turn ACS off in the firmware or with setpci",
        redirecting.size(), redirecting[0].get<std::string>()));
  const Json types = facts.at("iommu").value("types", Json::object());
  const int translated = types.value("DMA", 0) + types.value("DMA-FQ", 0);
  if (translated > 0 && facts.at("gpus") > 0)
    warnings.push_back(fmt::format(
        "the IOMMU translates for {} groups of devices: peer copies may go through the processor; "
        "boot with iommu=pt",
        translated));
}

}  // namespace

std::vector<std::string> preflight_warnings(const Json& facts) {
  Warnings warnings;
  look_at_gpus(facts, warnings);
  look_at_software(facts, warnings);
  look_at_bridges(facts, warnings);
  return warnings;
}

}  // namespace bench
