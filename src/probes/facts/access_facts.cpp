#include "probes/facts/access_facts.h"

#include <algorithm>

#include "probes/facts/cpu_facts.h"
#include "probes/facts/unreadable.h"

namespace bench {
namespace {

constexpr const char* kReadable = "readable";
const std::string kLog = "dev/kmsg";
const std::string kTables = "sys/firmware/dmi/tables/DMI";
const std::string kControllers = "sys/devices/system/edac/mc";
const std::string kPci = "sys/bus/pci/devices";
constexpr std::size_t kWithoutRights = 64;  // bytes of a configuration that everybody may read

Json kernel_log(const SystemFiles& files) {
  if (!files.exists(kLog)) return unreadable("no /dev/kmsg, as in a container");
  if (!files.opens(kLog)) return unreadable("no permission to read /dev/kmsg");
  return kReadable;
}

Json memory_errors(const SystemFiles& files) {
  const auto names = files.entries(kControllers);
  for (const std::string& name : names) {
    const std::string file = kControllers + "/" + name + "/ue_count";
    if (!files.exists(file)) continue;
    return files.opens(file) ? Json(kReadable) : unreadable("no permission to read /" + file);
  }
  return kNone;  // no driver for them is loaded, or a virtual machine has none
}

Json firmware_tables(const SystemFiles& files) {
  if (!files.exists(kTables)) return kNone;
  return files.opens(kTables) ? Json(kReadable) : unreadable("no permission to read /" + kTables);
}

Json pci_configuration(const SystemFiles& files) {
  for (const std::string& device : files.entries(kPci)) {
    const std::string folder = kPci + "/" + device + "/";
    if (!files.text(folder + "class", 32).value_or("").starts_with("0x0604")) continue;
    const auto space = files.bytes(folder + "config", 4096);
    if (space && space->size() > kWithoutRights) return kReadable;
    return unreadable("no permission to read more than 64 bytes of a PCI bridge's configuration");
  }
  return kNone;
}

}  // namespace

Json read_access_facts(const SystemFiles& files) {
  return {{"kernel_log", kernel_log(files)},
          {"memory_errors", memory_errors(files)},
          {"firmware_tables", firmware_tables(files)},
          {"pci_configuration", pci_configuration(files)}};
}

}  // namespace bench
