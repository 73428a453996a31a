// Warnings about a GPU host: what is wrong, its effect and the remedy.
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

void check_gpus(const Json& facts, Warnings& warnings) {
  const Json& foreign = facts.at("foreign_processes");
  if (is_array_with_entries(foreign))
    warnings.push_back(fmt::format(
        "{} foreign process{} on the GPUs ({}), which lowers the results; stop it or wait for it to "
        "end",
        foreign.size(), foreign.size() == 1 ? " is" : "es are", who(foreign)));
  const Json& off = facts.at("persistence_off");
  if (is_array_with_entries(off) && facts.at("persistence_daemon") != true)
    warnings.push_back(fmt::format(
        "persistence mode is off on {} GPUs: every first use reloads the driver, which takes seconds "
        "and resets the clocks; run `nvidia-smi -pm 1` or start nvidia-persistenced",
        off.size()));
}

void check_software(const Json& facts, Warnings& warnings) {
  if (facts.at("nvswitches") == true && facts.at("fabric_manager") != true)
    warnings.push_back(
        "this host has NVSwitches but no fabric manager was found: CUDA may not start, or GPUs may "
        "not reach each other; run `systemctl start nvidia-fabricmanager` (it is invisible from a "
        "container)");
  if (facts.at("peer_memory") == "none" && facts.at("infiniband_cards") > 0 && facts.at("gpus") > 0)
    warnings.push_back(
        "nvidia_peermem is not loaded: without dma-buf support, NICs move GPU data through host "
        "memory; run `modprobe nvidia_peermem`");
  const Json& shared = facts.at("shared_memory_bytes");
  if (shared.is_number() && shared < kSmallSharedMemory)
    warnings.push_back(fmt::format(
        "/dev/shm is only {}: NCCL and data loaders fail or slow down; enlarge it (docker run "
        "--shm-size=16g)",
        format(Bytes{shared.get<double>()})));
}

void check_bridges(const Json& facts, Warnings& warnings) {
  const Json& acs = facts.at("acs");
  const Json redirecting = acs.value("redirecting", Json::array());
  if (!redirecting.empty())
    warnings.push_back(fmt::format(
        "{} PCI bridges redirect peer-to-peer traffic to the CPU (ACS), e.g. {}: peer copies and "
        "GPUDirect lose bandwidth; disable ACS in the firmware or with setpci",
        redirecting.size(), redirecting[0].get<std::string>()));
  const Json types = facts.at("iommu").value("types", Json::object());
  const int translated = types.value("DMA", 0) + types.value("DMA-FQ", 0);
  if (translated > 0 && facts.at("gpus") > 0)
    warnings.push_back(fmt::format(
        "the IOMMU translates for {} device groups: peer copies may go through the CPU; boot with "
        "iommu=pt",
        translated));
}

}  // namespace

std::vector<std::string> preflight_warnings(const Json& facts) {
  Warnings warnings;
  check_gpus(facts, warnings);
  check_software(facts, warnings);
  check_bridges(facts, warnings);
  return warnings;
}

}  // namespace bench
