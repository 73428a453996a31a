#include "probes/facts/network_facts.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "probes/facts/pci_address.h"
#include "probes/facts/settings.h"
#include "probes/facts/unreadable.h"

namespace bench {
namespace {

const std::string kNet = "sys/class/net";
const std::string kInfiniband = "sys/class/infiniband";

template <std::size_t n>
std::string text_of(const char (&field)[n]) {
  return std::string(trim(std::string_view(field, strnlen(field, n))));
}

/// "" for a firmware that is called "N/A".
std::string if_known(const std::string& text) { return text == "N/A" ? "" : text; }

/// The kernel refuses to read the speed of a link that is down, and says -1 for none.
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

}  // namespace bench
