#include "devices/topology.h"

#include "probes/probe.h"
#include "tests/support/catch.h"
#include "tests/support/fake_device.h"

namespace bench {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// One package of four cores with 16 GiB, on which library and kernel agree.
class FakeTopology final : public Topology {
 public:
  FakeTopology() {
    library.source = "hwloc 2.9.0";
    library.packages = 1;
    library.cores = 4;
    library.hardware_threads = 8;
    library.numa_nodes = {{0, {16 * kGiB}, 8}};
    library.memory = {16 * kGiB};
    library.caches = {{"l1d", {32768}, {64}, 4, 2}, {"l2", {1048576}, {64}, 4, 2}};
    library.pci_devices = {{"0000:3b:00.0", "display", "10de:2330", "H100", {{31.5e9}}, {0}}};
    library.os_devices = {{"eth0", "network", ""}};
    system.cores = 4;
    system.hardware_threads = 8;
    system.memory = Bytes{16 * kGiB};
    modules.unreadable = "only root may look";
  }
  MachineTopology machine() override { return library; }
  KernelTopology kernel() override { return system; }
  MemoryModules memory_modules() override { return modules; }
  Json details(const MachineTopology&) override { return {{"settings", {{"thp", "madvise"}}}}; }

  MachineTopology library;
  KernelTopology system;
  MemoryModules modules;
};

struct TopologyJob {
  Job job;
  FakeTopology topology;
  FakeDevice device;
  std::unique_ptr<Group> group = make_self_group();
  CollectedRecords sink;

  Outcome run() {
    device.fake_topology = &topology;
    const Probe& probe = find_probe("topology");
    State state(job, probe, device, *group, sink);
    probe.run(state);
    return state.finish();
  }
  Samples metric(const std::string& name, const Json& params = Json::object()) const {
    for (const Samples& samples : sink.samples())
      if (samples.metric == name && samples.params == params) return samples;
    FAIL("there is no metric " << name);
    return {};
  }
  Json facts() const {
    for (const Record& record : sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body)) return facts->facts;
    return {};
  }
};

TEST_CASE("topology reports counts, memory and caches in base units") {
  TopologyJob t;
  CHECK(t.run().status == Status::ok);
  CHECK(t.metric("packages").values == std::vector<double>{1});
  CHECK(t.metric("cores").values == std::vector<double>{4});
  CHECK(t.metric("hardware_threads").values == std::vector<double>{8});
  CHECK(t.metric("numa_nodes").values == std::vector<double>{1});
  for (const char* by : {"library", "kernel"}) {
    CHECK(t.metric("memory", {{"by", by}}).values == std::vector<double>{16 * kGiB});
    CHECK(t.metric("memory", {{"by", by}}).unit == Unit::byte);
  }
  CHECK(t.metric("l2").values == std::vector<double>{1048576});
}

TEST_CASE("topology keeps devices, caches and both memory sizes as facts") {
  TopologyJob t;
  t.run();
  const Json facts = t.facts();
  CHECK(facts.at("memory_by_library_bytes") == 16 * kGiB);
  CHECK(facts.at("memory_by_kernel_bytes") == 16 * kGiB);
  CHECK(facts.at("caches").size() == 2);
  const Json& pci = facts.at("pci_devices").at(0);
  CHECK(pci.at("address") == "0000:3b:00.0");
  CHECK(pci.at("id") == "10de:2330");
  CHECK(pci.at("link_bytes_per_s") == 31.5e9);
  CHECK(pci.at("numa_nodes") == Json::array({0}));
  CHECK(facts.at("os_devices").at(0).at("kind") == "network");
  CHECK(facts.at("memory_modules") == "unreadable: only root may look");
}

TEST_CASE("topology is invalid with both values when library and kernel disagree") {
  TopologyJob t;
  SECTION("on memory by more than 2 %") {
    t.topology.system.memory = Bytes{15.5 * kGiB};
    const Outcome outcome = t.run();
    CHECK(outcome.status == Status::invalid);
    CHECK_THAT(outcome.reason, Catch::Contains("16 GiB") && Catch::Contains("15.50 GiB"));
  }
  SECTION("on cores") {
    t.topology.library.cores = 3;
    const Outcome outcome = t.run();
    CHECK(outcome.status == Status::invalid);
    CHECK_THAT(outcome.reason, Catch::Contains("hwloc 3") && Catch::Contains("kernel 4"));
  }
  SECTION("on hardware threads") {
    t.topology.system.hardware_threads = 16;
    CHECK(t.run().status == Status::invalid);
  }
}

TEST_CASE("topology allows for the little memory the kernel keeps") {
  TopologyJob t;
  t.topology.system.memory = Bytes{15.8 * kGiB};
  CHECK(t.run().status == Status::ok);
}

TEST_CASE("topology allows for memory that the kernel sets up on first use, and for no other") {
  TopologyJob t;
  t.topology.system.memory_of_nodes = Bytes{8 * kGiB};
  SECTION("between the kernel's two figures") {
    t.topology.library.memory = {8.5 * kGiB};
    CHECK(t.run().status == Status::ok);
    CHECK(t.facts().at("memory_of_kernel_nodes_bytes") == 8 * kGiB);
  }
  SECTION("below both") {
    t.topology.library.memory = {7.5 * kGiB};
    CHECK(t.run().status == Status::invalid);
  }
  SECTION("above both") {
    t.topology.library.memory = {16.5 * kGiB};
    CHECK(t.run().status == Status::invalid);
  }
}

TEST_CASE("topology is checked against nothing where the kernel says nothing") {
  TopologyJob t;
  t.topology.system = {};
  CHECK(t.run().status == Status::ok);
  CHECK_FALSE(t.metric("cores").check);
  CHECK(t.metric("memory", {{"by", "kernel"}}).outcome == Status::skipped);
  CHECK(t.facts().at("memory_by_kernel_bytes").is_null());
}

TEST_CASE("topology says what it could not know instead of reporting zero") {
  TopologyJob t;
  t.run();
  CHECK(t.metric("l3").outcome == Status::skipped);
  CHECK(t.metric("l3").values.empty());
  CHECK(t.metric("dram_bandwidth_limit").outcome == Status::skipped);
  CHECK(t.metric("dram_bandwidth_limit").reason == "only root may look");
}

TEST_CASE("topology sums the memory channels, and modules that share one count once") {
  TopologyJob t;
  t.topology.modules.unreadable = "";
  const MemoryModule module = {"A1", "", "DDR5", {32 * kGiB}, 4800e6, {8}};
  SECTION("channels not named: every module counts") {
    t.topology.modules.populated = {module, module};
    t.run();
    CHECK(t.metric("dram_bandwidth_limit").values == std::vector<double>{2 * 4800e6 * 8});
  }
  SECTION("two modules on one channel, one on another") {
    MemoryModule a = module;
    a.channel = "P0 CHANNEL A";
    MemoryModule b = module;
    b.channel = "P0 CHANNEL B";
    t.topology.modules.populated = {a, a, b};
    t.run();
    CHECK(t.metric("dram_bandwidth_limit").values == std::vector<double>{2 * 4800e6 * 8});
  }
  SECTION("speed not known") {
    MemoryModule slow = module;
    slow.transfers_per_second = 0.0;
    t.topology.modules.populated = {slow};
    t.run();
    CHECK(t.metric("dram_bandwidth_limit").outcome == Status::skipped);
  }
}

TEST_CASE("topology refuses to describe a machine that is not this one") {
  TopologyJob t;
  t.topology.library.this_machine = false;
  const Outcome outcome = t.run();
  CHECK(outcome.status == Status::invalid);
  CHECK_THAT(outcome.reason, Catch::Contains("HWLOC_XMLFILE"));
}

TEST_CASE("topology is skipped by a build without the library") {
  TopologyJob t;
  State state(t.job, find_probe("topology"), t.device, *t.group, t.sink);
  find_probe("topology").run(state);
  CHECK(state.finish().status == Status::skipped);
}

}  // namespace
}  // namespace bench
