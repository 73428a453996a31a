#include "devices/facts/machine_facts.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/text.h"
#include "devices/facts/pci_link.h"
#include "devices/facts/settings.h"
#include "devices/facts/unreadable.h"

namespace bench {
namespace {

const std::string kNet = "sys/class/net";
const std::string kInfiniband = "sys/class/infiniband";

template <std::size_t n>
std::string text_of(const char (&field)[n]) {
  return std::string(trim(std::string_view(field, strnlen(field, n))));
}

/// "" for "N/A".
std::string if_known(const std::string& text) { return text == "N/A" ? "" : text; }

/// The kernel reports an error while the link is down, and -1 for unknown.
Json speed(const SystemFiles& files, const std::string& folder) {
  const auto megabits = files.number(folder + "speed");
  return megabits && *megabits > 0 ? Json(*megabits * 1'000'000) : Json(nullptr);
}

std::string driver_of(const SystemFiles& files, const std::string& device) {
  return std::filesystem::path(files.resolved(device + "/driver")).filename().string();
}

Json interface_facts(const SystemFiles& files, const std::string& name, const AskDriver& ask) {
  const std::string folder = kNet + "/" + name + "/";
  const auto info = ask(name);
  const Json silent = unreadable("the driver does not support ethtool");
  return {{"name", name},
          {"pci_address", pci_address_of(files, folder + "device")},
          {"driver",
           info && !info->driver.empty() ? info->driver : driver_of(files, folder + "device")},
          {"driver_version", info ? Json(if_known(info->version)) : silent},
          {"firmware", info ? Json(if_known(info->firmware)) : silent},
          {"state", text_or_why(files, folder + "operstate")},
          {"speed_bits_per_s", speed(files, folder)},
          {"mtu", text_or_why(files, folder + "mtu")}};
}

/// "4: ACTIVE" without its number.
Json word_of(const Json& text) {
  if (!text.is_string()) return text;
  const auto word = text.get<std::string>();
  const auto colon = word.find(": ");
  return colon == std::string::npos ? word : word.substr(colon + 2);
}

Json port_facts(const SystemFiles& files, const std::string& folder, const std::string& port) {
  return {{"port", port},
          {"state", word_of(text_or_why(files, folder + port + "/state"))},
          {"physical_state", word_of(text_or_why(files, folder + port + "/phys_state"))},
          {"rate", text_or_why(files, folder + port + "/rate")},
          {"link_layer", text_or_why(files, folder + port + "/link_layer")}};
}

Json read_network_facts(const SystemFiles& files, const AskDriver& ask) {
  Json cards = Json::array();
  for (const std::string& name : files.entries(kNet))
    if (files.exists(kNet + "/" + name + "/device"))
      cards.push_back(interface_facts(files, name, ask));
  return cards;
}

Json read_infiniband_facts(const SystemFiles& files) {
  Json devices = Json::array();
  for (const std::string& name : files.entries(kInfiniband)) {
    const std::string folder = kInfiniband + "/" + name + "/";
    Json ports = Json::array();
    for (const std::string& port : files.entries(folder + "ports"))
      ports.push_back(port_facts(files, folder + "ports/", port));
    devices.push_back({{"name", name},
                       {"pci_address", pci_address_of(files, folder + "device")},
                       {"firmware", text_or_why(files, folder + "fw_ver")},
                       {"board", text_or_why(files, folder + "board_id")},
                       {"ports", ports}});
  }
  return devices;
}

}  // namespace

std::optional<DriverInfo> ask_ethtool(const std::string& interface) {
  ifreq request{};
  if (interface.size() >= sizeof request.ifr_name) return {};
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return {};
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  std::memcpy(request.ifr_name, interface.c_str(), interface.size());
  request.ifr_data = reinterpret_cast<char*>(&info);
  const int result = ioctl(socket_fd, SIOCETHTOOL, &request);
  close(socket_fd);
  if (result < 0) return {};
  return DriverInfo{text_of(info.driver), text_of(info.version), text_of(info.fw_version)};
}

namespace {

const std::string kPciDevices = "sys/bus/pci/devices/";
const std::string kNvme = "sys/class/nvme";
const std::string kGpus = "proc/driver/nvidia/gpus";
constexpr double kSector = 512.0;  // unit of /sys/block/*/size for all disks

Json machine_part(const SystemFiles& files) {
  return {{"vendor", text_or_why(files, kDmi + "sys_vendor")},
          {"product", text_or_why(files, kDmi + "product_name")},
          {"board", text_or_why(files, kDmi + "board_name")},
          {"bios_vendor", text_or_why(files, kDmi + "bios_vendor")},
          {"bios_version", text_or_why(files, kDmi + "bios_version")},
          {"bios_date", text_or_why(files, kDmi + "bios_date")}};
}

Json processor_part(const Json& host, const MachineTopology& machine) {
  return {{"model", known_of_host(host, "cpu_model")},
          {"microcode", known_of_host(host, "microcode")},
          {"architecture", known_of_host(host, "architecture")},
          {"packages", machine.packages},
          {"cores", machine.cores},
          {"hardware_threads", machine.hardware_threads}};
}

/// Versions of loaded modules; "loaded" for those with the version of the kernel.
Json modules(const SystemFiles& files) {
  Json versions = Json::object();
  for (const char* name : {"nvidia", "nvidia_peermem", "gdrdrv", "amdgpu", "mlx5_core", "mlx5_ib",
                           "ib_core", "bnxt_en", "ice", "irdma", "efa", "nvme", "knem", "xpmem"}) {
    const std::string folder = std::string("sys/module/") + name;
    if (!files.exists(folder)) continue;
    const Json version = text_or_why(files, folder + "/version");
    versions[name] = version == "none" ? Json("loaded") : version;
  }
  return versions;
}

Json software_part(const SystemFiles& files, const Json& host) {
  return {{"kernel", known_of_host(host, "kernel")},
          {"os", known_of_host(host, "os")},
          {"nvidia_driver", text_or_why(files, "sys/module/nvidia/version")},
          {"modules", modules(files)}};
}

/// Of all namespaces of a controller: "nvme0n1", or "nvme0c0n1" with shared paths.
double nvme_size(const SystemFiles& files, const std::string& folder) {
  double sectors = 0.0;
  for (const std::string& name : files.entries(folder))
    if (name.starts_with("nvme"))
      sectors += static_cast<double>(files.number(folder + "/" + name + "/size").value_or(0));
  return sectors * kSector;
}

Json nvme_part(const SystemFiles& files) {
  Json disks = Json::array();
  for (const std::string& name : files.entries(kNvme)) {
    const std::string folder = kNvme + "/" + name;
    disks.push_back({{"name", name},
                     {"pci_address", text_or_why(files, folder + "/address")},
                     {"model", text_or_why(files, folder + "/model")},
                     {"firmware", text_or_why(files, folder + "/firmware_rev")},
                     {"state", text_or_why(files, folder + "/state")},
                     {"size_bytes", nvme_size(files, folder)}});
  }
  return disks;
}

Json gpus_part(const SystemFiles& files) {
  Json gpus = Json::array();
  for (const std::string& address : files.entries(kGpus)) {
    const auto text = files.text(kGpus + "/" + address + "/information");
    const Json why = unreadable("not reported by the driver for " + address);
    const auto model = field(text.value_or(""), "Model");
    const auto vbios = field(text.value_or(""), "Video BIOS");
    gpus.push_back({{"pci_address", address},
                    {"model", model ? Json(*model) : why},
                    {"vbios", vbios ? Json(*vbios) : why}});
  }
  return gpus;
}

/// "0x15b3" as "15b3".
std::string hex_of(const SystemFiles& files, const std::string& path) {
  const std::string text = files.text(path, 16).value_or("");
  return text.starts_with("0x") ? text.substr(2) : text;
}

Json pci_part(const SystemFiles& files, const MachineTopology& machine) {
  Json devices = Json::object();
  for (const PciDevice& device : machine.pci_devices) {
    const std::string folder = kPciDevices + device.address;
    if (!files.exists(folder)) continue;
    const std::string driver = driver_of(files, folder);
    devices[device.address] = {{"driver", driver.empty() ? "none" : driver},
                               {"subsystem", hex_of(files, folder + "/subsystem_vendor") + ":" +
                                                 hex_of(files, folder + "/subsystem_device")},
                               {"link", read_pci_link(files, device.address)}};
  }
  return devices;
}

Json saved(const std::map<std::string, std::string>& infos, const char* name) {
  const auto found = infos.find(name);
  return found == infos.end() ? unreadable("not in a saved topology") : Json(found->second);
}

Json saved_disks(const MachineTopology& machine) {
  Json disks = Json::array();
  for (const OsDevice& device : machine.os_devices)
    if (device.kind == "block" && device.name.starts_with("nvme"))
      disks.push_back({{"name", device.name},
                       {"pci_address", device.pci_address},
                       {"model", saved(device.infos, "Model")},
                       {"firmware", saved(device.infos, "Revision")}});
  return disks;
}

Json saved_gpus(const MachineTopology& machine) {
  Json gpus = Json::array();
  for (const OsDevice& device : machine.os_devices)
    if (device.infos.contains("GPUModel") && device.name.starts_with("nvml"))
      gpus.push_back({{"pci_address", device.pci_address},
                      {"model", device.infos.at("GPUModel")},
                      {"vbios", unreadable("not in a saved topology")}});
  return gpus;
}

}  // namespace

Json read_machine_facts(const SystemFiles& files, const Json& host, const MachineTopology& machine,
                        const AskDriver& ask) {
  return {{"machine", machine_part(files)},
          {"processor", processor_part(host, machine)},
          {"software", software_part(files, host)},
          {"settings", read_settings(files, host)},
          {"kernel_options", read_kernel_options(files)},
          {"network", read_network_facts(files, ask)},
          {"infiniband", read_infiniband_facts(files)},
          {"nvme", nvme_part(files)},
          {"gpus", gpus_part(files)},
          {"pci", pci_part(files, machine)}};
}

Json saved_machine_facts(const MachineTopology& machine) {
  const Json absent = unreadable("not in a saved topology");
  const auto& infos = machine.infos;
  return {{"machine",
           {{"vendor", saved(infos, "DMISysVendor")},
            {"product", saved(infos, "DMIProductName")},
            {"board", saved(infos, "DMIBoardName")},
            {"bios_vendor", saved(infos, "DMIBIOSVendor")},
            {"bios_version", saved(infos, "DMIBIOSVersion")},
            {"bios_date", saved(infos, "DMIBIOSDate")}}},
          {"processor",
           {{"model", saved(infos, "CPUModel")},
            {"microcode", absent},
            {"architecture", saved(infos, "Architecture")},
            {"packages", machine.packages},
            {"cores", machine.cores},
            {"hardware_threads", machine.hardware_threads}}},
          {"software",
           {{"kernel", saved(infos, "OSRelease")}, {"os", absent}, {"nvidia_driver", absent}}},
          {"settings", absent},
          {"kernel_options", absent},
          {"network", absent},
          {"infiniband", absent},
          {"nvme", saved_disks(machine)},
          {"gpus", saved_gpus(machine)},
          {"pci", Json::object()}};
}

}  // namespace bench
