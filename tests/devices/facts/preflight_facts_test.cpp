#include "devices/facts/preflight_facts.h"

#include <filesystem>
#include <fstream>
#include <map>

#include "devices/facts/unreadable.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

/// The configuration space of a bridge whose second extended capability is ACS.
std::string bridge_space(unsigned acs_control) {
  std::string space(4096, '\0');
  const auto put = [&space](std::size_t at, unsigned value) {
    space[at] = static_cast<char>(value & 0xff);
    space[at + 1] = static_cast<char>(value >> 8);
  };
  put(0x100, 0x0001);          // error reporting ...
  put(0x102, 0x148 << 4 | 1);  // ... the next one is at 0x148
  put(0x148, 0x000d);
  put(0x14a, 1);
  put(0x14e, acs_control);
  return space;
}

/// A host with two bridges, an InfiniBand card, the modules and daemons that belong to it.
class FakeHost {
 public:
  FakeHost() {
    const std::map<std::string, std::string> files = {
        {"proc/1/comm", "systemd\n"},
        {"proc/812/comm", "nv-fabricmanage\n"},
        {"proc/4711/comm", "python3\n"},
        {"proc/modules", "nvidia 123 4 - Live 0x0\nnvidia_peermem 16384 0 - Live 0x0\n"},
        {"proc/mounts", "proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,size=16g 0 0\n"},
        {"proc/self/limits", "Max locked memory         unlimited   unlimited   bytes\n"},
        {"proc/meminfo", "MemTotal: 1048576 kB\n"},
        {"proc/cmdline", "root=/dev/sda1 quiet intel_iommu=on iommu=pt\n"},
        {"dev/nvidia-nvswitch0", ""},
        {"sys/class/infiniband/mlx5_0/node_guid", "x"},
        {"sys/kernel/iommu_groups/0/type", "identity\n"},
        {"sys/kernel/iommu_groups/1/type", "identity\n"},
        {"sys/bus/pci/devices/0000:00:01.0/class", "0x060400\n"},
        {"sys/bus/pci/devices/0000:00:01.0/config", bridge_space(0)},
        {"sys/bus/pci/devices/0000:01:00.0/class", "0x060400\n"},
        {"sys/bus/pci/devices/0000:01:00.0/config", bridge_space(0)},
        {"sys/bus/pci/devices/0000:02:00.0/class", "0x030200\n"},
        {"sys/bus/pci/devices/0000:02:00.0/config", bridge_space(0xff)},
    };
    for (const auto& [path, text] : files) write(path, text);
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path, std::ios::binary) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(folder_.path() / path); }
  Json facts(const Json& gpus, const std::set<int>& own = {}) const {
    return read_preflight_facts(SystemFiles(folder_.path()), gpus, own);
  }

 private:
  TemporaryDirectory folder_;
};

Json two_gpus() {
  const Json quiet = {{"index", 0},
                      {"persistence_mode", true},
                      {"compute_processes", Json::array()},
                      {"graphics_processes", unreadable("Not Supported")}};
  Json other = quiet;
  other["index"] = 1;
  return {{"gpus", {quiet, other}}};
}

bool warns(const Json& facts, const std::string& words) {
  for (const Json& text : facts.at("warnings"))
    if (text.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

TEST_CASE("a host that is ready has no complaints") {
  const Json facts = FakeHost().facts(two_gpus());
  CHECK(facts.at("warnings") == Json::array());
  CHECK(facts.at("foreign_processes") == Json::array());
  CHECK(facts.at("fabric_manager") == true);
  CHECK(facts.at("nvswitches") == true);
  CHECK(facts.at("peer_memory") == "nvidia_peermem");
  CHECK(facts.at("shared_memory_bytes") == 17179869184);
  CHECK(facts.at("memlock_bytes") == "none");
  CHECK(facts.at("acs") == Json{{"bridges", 2}, {"readable", 2}, {"redirecting", Json::array()}});
  CHECK(facts.at("iommu") == Json{{"groups", 2}, {"types", {{"identity", 2}}}});
  CHECK(facts.at("kernel_options") == Json{"intel_iommu=on", "iommu=pt"});
}

TEST_CASE("foreign processes on a GPU are listed, our own are not") {
  Json gpus = two_gpus();
  gpus["gpus"][1]["compute_processes"] = {{{"pid", 4711}, {"used_bytes", 1024}},
                                          {{"pid", 99}, {"used_bytes", 1}}};
  const Json facts = FakeHost().facts(gpus, {99});
  CHECK(facts.at("foreign_processes") ==
        Json::array({{{"gpu", 1}, {"pid", 4711}, {"used_bytes", 1024}, {"name", "python3"}}}));
  CHECK(warns(facts, "1 foreign process is on the GPUs (GPU 1: python3 with pid 4711)"));
  // Both are foreign where none is ours; the second is not to be seen from here.
  const Json all = FakeHost().facts(gpus).at("foreign_processes");
  REQUIRE(all.size() == 2);
  CHECK(is_unreadable(all[1].at("name")));
}

TEST_CASE("what NVML could not say is unreadable, never an empty list") {
  const Json sick = unreadable("NVML did not answer within 5 s; the driver may hang");
  CHECK(FakeHost().facts(sick).at("foreign_processes") == sick);
  CHECK(FakeHost().facts(sick).at("persistence_off") == sick);
  Json gpus = two_gpus();
  gpus["gpus"][0]["compute_processes"] = unreadable("no permission");
  CHECK(FakeHost().facts(gpus).at("foreign_processes") == unreadable("no permission"));
}

TEST_CASE("each problem gives a warning") {
  FakeHost host;
  Json gpus = two_gpus();
  SECTION("persistence mode") {
    gpus["gpus"][1]["persistence_mode"] = false;
    CHECK(host.facts(gpus).at("persistence_off") == Json{1});
    CHECK(warns(host.facts(gpus), "persistence mode is off on 1 GPUs"));
    host.write("proc/900/comm", "nvidia-persiste\n");
    CHECK_FALSE(warns(host.facts(gpus), "persistence mode"));
  }
  SECTION("fabric manager") {
    host.remove("proc/812");
    CHECK(warns(host.facts(gpus), "no fabric manager"));
    host.remove("dev/nvidia-nvswitch0");
    host.write("dev/nvidia-nvswitchctl", "");
    CHECK_FALSE(warns(host.facts(gpus), "no fabric manager"));
  }
  SECTION("peer memory") {
    host.write("proc/modules", "nvidia 1 0 - Live 0x0\nnot_nvidia_peermem 1 0 - Live 0x0\n");
    CHECK(host.facts(gpus).at("peer_memory") == "none");
    CHECK(warns(host.facts(gpus), "nvidia_peermem is not loaded"));
    CHECK_FALSE(warns(host.facts({}), "nvidia_peermem"));  // without a GPU nobody needs it
  }
  SECTION("access control") {
    host.write("sys/bus/pci/devices/0000:01:00.0/config", bridge_space(0x1d));
    CHECK(host.facts(gpus).at("acs").at("redirecting") == Json{"0000:01:00.0"});
    CHECK(warns(host.facts(gpus), "e.g. 0000:01:00.0"));
    host.write("sys/bus/pci/devices/0000:01:00.0/config", bridge_space(0x11));  // no redirection
    CHECK_FALSE(warns(host.facts(gpus), "ACS"));
  }
  SECTION("IOMMU") {
    host.write("sys/kernel/iommu_groups/1/type", "DMA-FQ\n");
    CHECK(warns(host.facts(gpus), "iommu=pt"));
  }
  SECTION("shared memory") {
    host.write("proc/mounts", "shm /dev/shm tmpfs rw,nosuid,size=65536k 0 0\n");
    CHECK(host.facts(gpus).at("shared_memory_bytes") == 67108864);
    CHECK(warns(host.facts(gpus), "/dev/shm is only 64 MiB"));
  }
}

TEST_CASE("what the files do not say is unreadable") {
  FakeHost host;
  for (const char* path :
       {"proc/modules", "proc/mounts", "proc/self", "sys/bus", "sys/kernel", "proc/cmdline"})
    host.remove(path);
  const Json facts = host.facts({});
  for (const char* key : {"peer_memory", "shared_memory_bytes", "acs", "iommu", "kernel_options"}) {
    INFO(key);
    CHECK(is_unreadable(facts.at(key)));
  }
  CHECK(facts.at("memlock_bytes") == "unreadable");
  CHECK(facts.at("warnings") == Json::array());
}

TEST_CASE("configuration space without rights, cut off, or running in circles does no harm") {
  FakeHost host;
  const std::string whole = bridge_space(0x1d);
  for (const char* bridge : {"0000:00:01.0", "0000:01:00.0"})
    host.write("sys/bus/pci/devices/" + std::string(bridge) + "/config", whole.substr(0, 64));
  CHECK(is_unreadable(host.facts({}).at("acs")));
  host.write("sys/bus/pci/devices/0000:01:00.0/config", whole.substr(0, 0x14c));
  CHECK(host.facts({}).at("acs").at("redirecting").empty());
  std::string circle = whole;
  circle[0x148] = 1;
  circle[0x14a] = static_cast<char>(0x01);  // next: 0x100
  circle[0x14b] = 0x10;
  host.write("sys/bus/pci/devices/0000:01:00.0/config", circle);
  CHECK(host.facts({}).at("acs").at("redirecting").empty());
}

TEST_CASE("a shared memory without a stated size is half of the memory, nonsense is unreadable") {
  FakeHost host;
  host.write("proc/mounts", "tmpfs /dev/shm tmpfs rw,nosuid 0 0\n");
  CHECK(host.facts({}).at("shared_memory_bytes") == 536870912);
  for (const char* size : {"", "k", "-5k", "many", "99999999999999999999g", "9999999999999g"}) {
    INFO(size);
    host.write("proc/mounts", "tmpfs /dev/shm tmpfs rw,size=" + std::string(size) + " 0 0\n");
    CHECK(is_unreadable(host.facts({}).at("shared_memory_bytes")));
  }
}

}  // namespace
}  // namespace bench
