#include "devices/facts/pci_link.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

struct Ends {
  std::string speed, speed_max;
  std::string width, width_max;
};
const Ends kAwake{"32.0 GT/s PCIe", "32.0 GT/s PCIe", "16", "16"};
const Ends kAsleep{"2.5 GT/s PCIe", "32.0 GT/s PCIe", "16", "16"};

/// A machine whose only GPU lies behind the given ports.
class FakeTree {
 public:
  FakeTree& below(const std::string& address, const Ends& ends) {
    folder_ = folder_ / address;
    const auto whole = root_.path() / folder_;
    std::filesystem::create_directories(whole);
    write(whole / "current_link_speed", ends.speed);
    write(whole / "max_link_speed", ends.speed_max);
    write(whole / "current_link_width", ends.width);
    write(whole / "max_link_width", ends.width_max);
    address_ = address;
    return *this;
  }
  void write_file(const std::string& name, const std::string& text) const {
    write(root_.path() / folder_ / name, text);
  }
  Json link(const std::string& asked = {}) const {
    const auto devices = root_.path() / "sys/bus/pci/devices";
    std::filesystem::create_directories(devices);
    std::error_code exists;
    std::filesystem::create_symlink("../../../../" + folder_.string(), devices / address_, exists);
    return read_pci_link(SystemFiles(root_.path()), asked.empty() ? address_ : asked);
  }

 private:
  static void write(const std::filesystem::path& path, const std::string& text) {
    if (!text.empty()) std::ofstream(path) << text << "\n";
  }
  TemporaryDirectory root_;
  std::filesystem::path folder_ = "sys/devices/pci0000:00";
  std::string address_;
};

TEST_CASE("a link at rest counts as what both of its ends can when awake") {
  FakeTree tree;
  const Json link = tree.below("0000:00:01.0", kAsleep).below("0000:3b:00.0", kAsleep).link();
  CHECK(link == Json{{"pcie_generation", 5},
                     {"pcie_lanes", 16},
                     {"pcie_generation_now", 1},
                     {"pcie_generation_max", 5},
                     {"pcie_lanes_max", 16}});
  CHECK(tree.link("0000:3B:00.0") == link);  // as CUDA writes it
}

TEST_CASE("a narrow link is narrow, and a slower slot bounds a faster device") {
  FakeTree narrow;
  Ends eight = kAsleep;
  eight.width = "8";
  CHECK(
      narrow.below("0000:00:01.0", kAsleep).below("0000:3b:00.0", eight).link().at("pcie_lanes") ==
      8);
  FakeTree slow;
  Ends four = kAwake;
  four.speed = four.speed_max = "16.0 GT/s PCIe";
  Ends device = kAwake;
  device.speed = "16.0 GT/s PCIe";
  const Json link = slow.below("0000:00:01.0", four).below("0000:3b:00.0", device).link();
  CHECK(link.at("pcie_generation") == 4);
  CHECK(link.at("pcie_generation_max") == 5);
}

TEST_CASE("behind a switch the slowest link of the path counts, each link for itself") {
  Ends uplink = kAwake;  // generation 4, 16 wide, alongside one of generation 5, 8 wide: alike
  uplink.speed = uplink.speed_max = "16.0 GT/s PCIe";
  Ends eight = kAwake;
  eight.width = "8";
  FakeTree alike;
  const Json link = alike.below("0000:00:01.0", uplink)
                        .below("0000:01:00.0", uplink)
                        .below("0000:02:00.0", kAwake)
                        .below("0000:3b:00.0", eight)
                        .link();
  CHECK(link.at("pcie_generation").get<int>() * link.at("pcie_lanes").get<int>() >= 40);
  Ends four = uplink;
  four.width = "4";
  FakeTree above;
  const Json slow = above.below("0000:00:01.0", uplink)
                        .below("0000:01:00.0", four)
                        .below("0000:02:00.0", kAwake)
                        .below("0000:3b:00.0", kAwake)
                        .link();
  CHECK(slow.at("pcie_generation") == 4);
  CHECK(slow.at("pcie_lanes") == 4);
  CHECK(slow.at("pcie_slowest") == "0000:01:00.0");
  CHECK(slow.at("pcie_lanes_max") == 16);
}

TEST_CASE("a virtual port that claims less than its device runs at is not believed") {
  const Ends made_up{"2.5 GT/s PCIe", "2.5 GT/s PCIe", "1", "1"};
  FakeTree tree;
  const Json link = tree.below("0000:00:01.0", made_up).below("0000:3b:00.0", kAsleep).link();
  CHECK(link.at("pcie_generation") == 5);
  CHECK(link.at("pcie_lanes") == 16);
  // A sleeping device contradicts nobody; the maker of the port does.
  const Ends modest{"2.5 GT/s PCIe", "16.0 GT/s PCIe", "16", "32"};
  FakeTree qemu;
  qemu.below("0000:00:02.0", modest).write_file("vendor", "0x1b36");
  CHECK(qemu.below("0000:3b:00.0", kAsleep).link().at("pcie_generation") == 5);
  FakeTree intel;
  intel.below("0000:00:02.0", modest).write_file("vendor", "0x8086");
  CHECK(intel.below("0000:3b:00.0", kAsleep).link().at("pcie_generation") == 4);
}

TEST_CASE("facts missing from the files are omitted") {
  CHECK(read_pci_link(SystemFiles("/nowhere"), "0000:3b:00.0") == Json::object());
  FakeTree mute;
  CHECK(mute.below("0000:3b:00.0", {"Unknown", "Unknown", "0", "255"}).link() == Json::object());
  FakeTree half;
  const Json link = half.below("0000:3b:00.0", {"", "32.0 GT/s PCIe", "63", "16"}).link();
  CHECK(link == Json{{"pcie_generation", 5},
                     {"pcie_lanes", 16},
                     {"pcie_generation_max", 5},
                     {"pcie_lanes_max", 16}});
  CHECK(half.link("../../../etc/passwd") == Json::object());
}

}  // namespace
}  // namespace bench
