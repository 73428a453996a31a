// Fake `topology` facts of a GPU host: two processors and two switches, each with four GPUs, a NIC
// and an NVMe disk.
#pragma once

#include <fmt/format.h>

#include "core/json.h"
#include "results/verdicts/topology/fleet.h"

namespace bench {

inline std::string gpu_address(int gpu) { return fmt::format("0000:{:02x}:00.0", 0x10 + gpu); }

class TopologyHost {
 public:
  TopologyHost() {
    facts = {{"memory_by_kernel_bytes", 1e12}, {"memory_modules", Json::array()},
             {"pci_devices", Json::array()},   {"pci", Json::object()},
             {"network", Json::array()},       {"nvme", Json::array()},
             {"gpus", Json::array()}};
    facts["processor"] = {{"model", "EPYC 7742"}, {"packages", 2}, {"cores", 128}};
    facts["machine"] = {{"product", "DGX"}, {"bios_version", "1.2"}};
    facts["software"] = {{"kernel", "6.1.0"}, {"modules", {{"nvidia", "550.54"}}}};
    facts["settings"] = {{"thp", "madvise"}, {"mitigation.spectre_v2", "Mitigation: IBRS"}};
    facts["kernel_options"] = {{"iommu", "pt"}};
    for (int node = 0; node < 2; ++node)
      facts["numa"].push_back({{"index", node}, {"memory_bytes", 5e11}, {"hardware_threads", 128}});
    for (int slot = 0; slot < 16; ++slot)
      facts["memory_modules"].push_back({{"slot", fmt::format("A{}", slot)},
                                         {"type", "DDR4"},
                                         {"size_bytes", 68719476736.0},
                                         {"transfers_per_s", 3.2e9}});
    for (int gpu = 0; gpu < 8; ++gpu) add_gpu(gpu);
    for (int card = 0; card < 2; ++card) add_card(card), add_disk(card);
  }

  /// The device at an address, which must exist.
  Json& link(const std::string& address) { return facts["pci"][address]["link"]; }
  TopologyHost& remove_gpu(int gpu) {
    auto& devices = facts["pci_devices"];
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (devices[i]["address"] == gpu_address(gpu)) devices.erase(i);
    for (std::size_t i = 0; i < facts["gpus"].size(); ++i)
      if (facts["gpus"][i]["pci_address"] == gpu_address(gpu)) facts["gpus"].erase(i);
    return *this;
  }

  Shape shape() const { return shape_of(facts); }
  HostTopology as(const std::string& name, const std::string& profile = "") const {
    HostTopology host{name, shape()};
    host.profile = profile;
    return host;
  }

  Json facts;

 private:
  void add_device(const std::string& address, const char* kind, const char* id, int node,
                  int lanes) {
    const std::string port = fmt::format("0000:{}0:01.0", node);
    facts["pci_devices"].push_back(
        {{"address", address},
         {"kind", kind},
         {"id", id},
         {"numa_nodes", {node}},
         {"bridges", {address + "-below", port, fmt::format("h{}", node)}}});
    facts["pci"][address]["link"] = {{"pcie_generation", 4},
                                     {"pcie_lanes", lanes},
                                     {"pcie_generation_max", 4},
                                     {"pcie_lanes_max", lanes}};
  }
  void add_gpu(int gpu) {
    add_device(gpu_address(gpu), "display", "10de:20b0", gpu / 4, 16);
    facts["gpus"].push_back(
        {{"pci_address", gpu_address(gpu)}, {"model", "A100"}, {"vbios", "92.00.19"}});
  }
  void add_card(int node) {
    const std::string address = fmt::format("0000:{:02x}:00.0", 0x80 + node);
    add_device(address, "network", "15b3:101b", node, 16);
    facts["network"].push_back({{"name", fmt::format("ib{}", node)},
                                {"pci_address", address},
                                {"driver", "mlx5_core"},
                                {"driver_version", "5.8"},
                                {"firmware", "20.35.1012"},
                                {"state", "up"},
                                {"speed_bits_per_s", 200'000'000'000},
                                {"mtu", "4092"}});
  }
  void add_disk(int node) {
    const std::string address = fmt::format("0000:{:02x}:00.0", 0x90 + node);
    add_device(address, "nvme", "144d:a80a", node, 4);
    facts["nvme"].push_back({{"name", fmt::format("nvme{}", node)},
                             {"pci_address", address},
                             {"model", "PM1733"},
                             {"firmware", "EPK9"},
                             {"state", "live"},
                             {"size_bytes", 3.84e12}});
  }
};

}  // namespace bench
