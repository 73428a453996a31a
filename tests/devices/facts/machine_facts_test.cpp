#include "devices/facts/machine_facts.h"

#include <filesystem>
#include <fstream>

#include "devices/facts/settings.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

const std::string kCard = "0000:3b:00.0";
const std::string kDisk = "0000:5e:00.0";
const std::string kGpu = "0000:17:00.0";

/// A machine of files with an InfiniBand card, an NVMe disk and a GPU.
class FakeServer {
 public:
  FakeServer() {
    for (const std::string& address : {kCard, kDisk, kGpu}) add_device(address);
    write(at(kCard) + "/net/ib0/operstate", "up");
    write(at(kCard) + "/net/ib0/mtu", "4092");
    write(at(kCard) + "/net/ib0/speed", "200000");
    link(at(kCard) + "/net/ib0/device", "../../../" + kCard);
    link("sys/class/net/ib0", "../../devices/pci0000:00/" + kCard + "/net/ib0");
    write("sys/class/net/docker0/operstate", "down");  // no device: software
    const std::string hca = at(kCard) + "/infiniband/mlx5_0";
    write(hca + "/fw_ver", "20.35.1012");
    write(hca + "/board_id", "MT_0000000594");
    write(hca + "/ports/1/state", "4: ACTIVE");
    write(hca + "/ports/1/phys_state", "5: LinkUp");
    write(hca + "/ports/1/rate", "200 Gb/sec (4X HDR)");
    write(hca + "/ports/1/link_layer", "InfiniBand");
    link(hca + "/device", "../../../" + kCard);
    link("sys/class/infiniband/mlx5_0", "../../devices/pci0000:00/" + kCard + "/infiniband/mlx5_0");
    write("sys/class/nvme/nvme0/model", "SAMSUNG PM1733  ");
    write("sys/class/nvme/nvme0/firmware_rev", "EPK9GB5Q");
    write("sys/class/nvme/nvme0/address", kDisk);
    write("sys/class/nvme/nvme0/state", "live");
    write("sys/class/nvme/nvme0/nvme0n1/size", "7500000000");
    write("proc/driver/nvidia/gpus/" + kGpu + "/information",
          "Model: \t\t NVIDIA A100-SXM4-40GB\nVideo BIOS: \t 92.00.19.00.01\nIRQ: 3\n");
    write("sys/module/nvidia/version", "550.54.15");
    write("sys/module/nvme/refcnt", "4");
    write("sys/class/dmi/id/bios_version", "1.2.3");
    write("proc/cmdline",
          "BOOT_IMAGE=/vmlinuz-6.1 root=UUID=8d1f ro iommu=pt console=tty0 console=ttyS0 quiet "
          "systemd.machine_id=abc -- --an-argument-of-init");
    write("proc/sys/kernel/numa_balancing", "1");
    write("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456");
    write("sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never");
    write("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected");
    write("sys/kernel/iommu_groups/0/type", "DMA-FQ");
  }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  Json read(const AskDriver& ask) const {
    MachineTopology machine;
    machine.packages = 2;
    for (const std::string& address : {kCard, kDisk, kGpu}) {
      machine.pci_devices.emplace_back();
      machine.pci_devices.back().address = address;
    }
    const Json host = {{"cpu_model", "EPYC"},
                       {"governor", "performance"},
                       {"kernel", "6.1.0"},
                       {"os", "unreadable"}};
    return read_machine_facts(SystemFiles(root), host, machine, ask);
  }
  static std::string at(const std::string& address) { return "sys/devices/pci0000:00/" + address; }

  TemporaryDirectory folder;
  std::filesystem::path root = folder.path();

 private:
  void link(const std::string& path, const std::string& to) {
    std::filesystem::create_directories((root / path).parent_path());
    std::filesystem::create_directory_symlink(to, root / path);
  }
  void add_device(const std::string& address) {
    write(at(address) + "/current_link_speed", "16.0 GT/s PCIe");
    write(at(address) + "/max_link_speed", "16.0 GT/s PCIe");
    write(at(address) + "/current_link_width", "8");
    write(at(address) + "/max_link_width", "16");
    write(at(address) + "/subsystem_vendor", "0x15b3");
    write(at(address) + "/subsystem_device", "0x0006");
    write("sys/bus/pci/drivers/of_" + address + "/module", "");
    link(at(address) + "/driver", "../../../bus/pci/drivers/of_" + address);
    link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
  }
};

std::optional<DriverInfo> mlx5(const std::string& interface) {
  if (interface != "ib0") return {};
  return DriverInfo{"mlx5_core", "5.8-1", "20.35.1012 (MT_0000000594)"};
}

TEST_CASE("NICs, disks and GPUs are reported with PCI address, firmware and link") {
  const Json facts = FakeServer().read(mlx5);
  REQUIRE(facts["network"].size() == 1);
  const Json& card = facts["network"][0];
  CHECK(card["pci_address"] == kCard);
  CHECK(card["firmware"] == "20.35.1012 (MT_0000000594)");
  CHECK(card["speed_bits_per_s"] == 200e9);
  CHECK(card["state"] == "up");
  CHECK(card["mtu"] == "4092");
  const Json& hca = facts["infiniband"].at(0);
  CHECK(hca["firmware"] == "20.35.1012");
  CHECK(hca["pci_address"] == kCard);
  CHECK(hca["ports"][0]["state"] == "ACTIVE");
  CHECK(hca["ports"][0]["rate"] == "200 Gb/sec (4X HDR)");
  const Json& disk = facts["nvme"].at(0);
  CHECK(disk["model"] == "SAMSUNG PM1733");
  CHECK(disk["pci_address"] == kDisk);
  CHECK(disk["size_bytes"] == 7500000000.0 * 512);
  const Json& gpu = facts["gpus"].at(0);
  CHECK(gpu["model"] == "NVIDIA A100-SXM4-40GB");
  CHECK(gpu["vbios"] == "92.00.19.00.01");
  const Json& device = facts["pci"][kGpu];
  CHECK(device["link"]["pcie_lanes"] == 8);
  CHECK(device["link"]["pcie_lanes_max"] == 16);
  CHECK(device["subsystem"] == "15b3:0006");
  CHECK(device["driver"] == "of_" + kGpu);
  CHECK(facts["software"]["nvidia_driver"] == "550.54.15");
  CHECK(facts["software"]["modules"] == Json{{"nvidia", "550.54.15"}, {"nvme", "loaded"}});
  CHECK(facts["processor"]["packages"] == 2);
}

TEST_CASE("settings are words, and options that name a host are removed from the command line") {
  const Json facts = FakeServer().read(mlx5);
  const Json& settings = facts["settings"];
  CHECK(settings["governor"] == "performance");
  CHECK(settings["thp_defrag"] == "madvise");
  CHECK(settings["sysctl.net.ipv4.tcp_rmem"] == "4096 131072 6291456");
  CHECK(settings["sysctl.kernel.numa_balancing"] == "1");
  CHECK(settings["mitigation.meltdown"] == "Not affected");
  CHECK(settings["iommu"] == "translates (DMA-FQ)");
  CHECK(facts["kernel_options"] ==
        Json{{"ro", "set"}, {"iommu", "pt"}, {"console", "tty0,ttyS0"}, {"quiet", "set"}});
}

TEST_CASE("what is not there is none, and what does not answer is unreadable, with the reason") {
  const FakeServer server;
  const Json facts = server.read([](const std::string&) { return std::nullopt; });
  CHECK(facts["settings"]["sysctl.vm.swappiness"] == "none");
  CHECK(facts["settings"]["turbo"]["unreadable"] == "not reported by the kernel");
  CHECK(facts["software"]["os"]["unreadable"] == "not reported by the kernel");
  CHECK(facts["machine"]["bios_date"] == "none");
  CHECK(facts["machine"]["bios_version"] == "1.2.3");
  CHECK_THAT(facts["network"][0]["firmware"]["unreadable"].get<std::string>(),
             Catch::Contains("ethtool"));
  CHECK(facts["network"][0]["driver"] == "of_" + kCard);
}

TEST_CASE("a file that is there and cannot be read is unreadable, not none") {
  FakeServer server;
  std::filesystem::create_directories(server.root / "sys/class/dmi/id/board_name");
  const Json value = text_or_why(SystemFiles(server.root), "sys/class/dmi/id/board_name");
  CHECK_THAT(value["unreadable"].get<std::string>(), Catch::Contains("board_name"));
}

TEST_CASE("a link that is down has no speed") {
  FakeServer server;
  server.write(FakeServer::at(kCard) + "/net/ib0/speed", "-1");
  server.write(FakeServer::at(kCard) + "/net/ib0/operstate", "down");
  const Json facts = server.read(mlx5);
  CHECK(facts["network"][0]["speed_bits_per_s"].is_null());
  CHECK(facts["network"][0]["state"] == "down");
}

TEST_CASE("the loopback interface does not support ethtool, and a long name is rejected") {
  CHECK_FALSE(ask_ethtool("no-such-interface-with-a-long-name"));
  CHECK_FALSE(ask_ethtool("nosuch0"));
}

TEST_CASE("a saved topology marks every part it lacks as unreadable") {
  MachineTopology machine;
  machine.infos = {{"DMIProductName", "DGX-2H"}, {"CPUModel", "Xeon"}};
  OsDevice gpu{"nvml0", "co-processor", kGpu};
  gpu.infos = {{"GPUModel", "V100"}};
  machine.os_devices = {gpu};
  const Json facts = saved_machine_facts(machine);
  CHECK(facts["machine"]["product"] == "DGX-2H");
  CHECK(facts["machine"]["bios_version"].contains("unreadable"));
  CHECK(facts["settings"].contains("unreadable"));
  CHECK(facts["network"].contains("unreadable"));
  CHECK(facts["gpus"][0]["model"] == "V100");
}

}  // namespace
}  // namespace bench
