#include "probes/data/loader/placement.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::data {
namespace {

/// A machine of two nodes, with these processors.
struct TwoNodes {
  TemporaryDirectory root = {};

  TwoNodes(const std::string& first, const std::string& second) {
    write("online", "0-1");
    write("node0/cpulist", first);
    write("node1/cpulist", second);
  }
  void write(const std::string& name, const std::string& text) const {
    const auto path = root.path() / "sys/devices/system/node" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::vector<CpuNode> nodes() const { return cpu_nodes(SystemFiles(root.path())); }
};

TEST_CASE("a rank bound to one node still finds the others") {
  const auto all = cpu_nodes();
  const std::vector<int> cpus = all.front().cpus;
  if (cpus.size() < 2) return;
  const TwoNodes machine(std::to_string(cpus[0]), std::to_string(cpus[1]));
  std::vector<CpuNode> found;
  std::thread([&] {
    run_on({cpus[0]});
    found = machine.nodes();
    CHECK(usable_cores() <= 1.0);
  }).join();
  REQUIRE(found.size() == 2);
  CHECK(found[1].id == 1);
  CHECK(found[1].cpus == std::vector<int>{cpus[1]});
}

TEST_CASE("a node without usable processors is omitted") {
  const int own = cpu_nodes().front().cpus.front();
  const auto found = TwoNodes(std::to_string(own), "1023").nodes();
  REQUIRE(found.size() == 1);
  CHECK(found[0].cpus == std::vector<int>{own});
}

TEST_CASE("if the kernel reports no nodes there is one, with the current processors") {
  const TemporaryDirectory empty;
  const auto found = cpu_nodes(SystemFiles(empty.path()));
  REQUIRE(found.size() == 1);
  CHECK(static_cast<double>(found[0].cpus.size()) >= usable_cores());
}

}  // namespace
}  // namespace bench::data
