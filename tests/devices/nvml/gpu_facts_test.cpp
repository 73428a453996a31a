#include <chrono>

#include "devices/facts/unreadable.h"
#include "devices/nvml/facts.h"
#include "tests/support/catch.h"
#include "tests/support/fake_nvml.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

Json facts_of(const char* scenario) {
  const FakeNvml nvml(scenario);
  return read_gpu_facts(nvml.library());
}

Json gpu_of(const char* scenario) {
  const Json facts = facts_of(scenario);
  INFO(dump(facts));
  REQUIRE(facts.at("gpus").size() == 1);
  return facts.at("gpus")[0];
}

TEST_CASE("a healthy GPU's facts are read in base units") {
  const Json facts = facts_of("healthy");
  CHECK(facts.at("driver") == "550.54.15");
  CHECK(facts.at("cuda") == "12.4");
  const Json gpu = gpu_of("healthy");
  const Json expected = {{"index", 0},
                         {"name", "NVIDIA H100 80GB HBM3"},
                         {"uuid", "GPU-12345678-9abc-def0-1234-56789abcdef0"},
                         {"serial", "1650123000042"},
                         {"board_part_number", "692-2G520-0200-000"},
                         {"vbios", "96.00.89.00.01"},
                         {"compute_capability", "9.0"},
                         {"pci_address", "0001:3b:00.0"},
                         {"pci_id", "10de:2330"},
                         {"sm_clock_hz", 1.98e9},
                         {"memory_clock_max_hz", 2.619e9},
                         {"power_w", 350.25},
                         {"power_limit_w", 700.0},
                         {"power_limit_enforced_w", 650.0},
                         {"power_limit_min_w", 200.0},
                         {"temperature_c", 45},
                         {"slowdown_temperature_c", 89},
                         {"shutdown_temperature_c", 92},
                         {"memory_temperature_c", 61},
                         {"memory_bytes", 85899345920},
                         {"memory_used_bytes", 899345920},
                         {"ecc", true},
                         {"ecc_uncorrected_aggregate", 0},
                         {"remapped_rows_uncorrected", 0},
                         {"remapped_rows_pending", 0},
                         {"pcie_generation", 5},
                         {"pcie_width", 16},
                         {"pcie_width_max", 16},
                         {"mig_mode", false},
                         {"persistence_mode", true},
                         {"event_reasons", Json::array()},
                         {"throttled_power_s", 0.0}};
  for (const auto& [key, value] : expected.items()) {
    INFO(key);
    CHECK(gpu.at(key) == value);
  }
  CHECK(gpu.at("energy_j") >= 1000.0);
  CHECK(gpu.at("energy_j") < 2000.0);
}

TEST_CASE("the links and the fabric of a GPU are read") {
  const Json gpu = gpu_of("healthy");
  CHECK(gpu.at("nvlink").at("links") == 2);
  CHECK(gpu.at("nvlink").at("crc_flit_errors") == 0);
  const Json& states = gpu.at("nvlink").at("states");
  REQUIRE(states.size() == 2);
  CHECK(states[0].at("active") == true);
  CHECK(states[0].at("version") == 6);
  CHECK(states[0].at("remote_address") == "0000:05:00.0");
  CHECK(states[1] == Json{{"link", 1}, {"active", false}});
  CHECK(gpu.at("fabric") == Json{{"state", "completed"},
                                 {"cluster", "abcd0000000000000000000000000000"},
                                 {"clique", 4},
                                 {"health_mask", 2},
                                 {"status", "ok"}});
}

TEST_CASE("processes on a GPU are read, and their memory if reported") {
  const Json processes = gpu_of("healthy").at("compute_processes");
  REQUIRE(processes.size() == 2);
  CHECK(processes[0] == Json{{"pid", 4711}, {"used_bytes", 1073741824}});
  CHECK(processes[1].at("pid") == 4712);
  CHECK(is_unreadable(processes[1].at("used_bytes")));
}

TEST_CASE("a throttling GPU shows why and for how long") {
  const Json gpu = gpu_of("throttling");
  CHECK(gpu.at("event_reasons") == Json{"sw_power_cap", "sw_thermal", "hw_thermal"});
  CHECK(gpu.at("throttled_power_s") == 9.0);
  CHECK(gpu.at("throttled_thermal_s") == 2.5);
  CHECK(gpu.at("sm_clock_hz") == 1.095e9);
  CHECK(gpu.at("temperature_c") == 91);
  CHECK(gpu.at("persistence_mode") == false);
}

TEST_CASE("remapped rows and a narrow link are seen") {
  const Json gpu = gpu_of("remapped_rows_narrow_pcie");
  CHECK(gpu.at("remapped_rows_uncorrected") == 7);
  CHECK(gpu.at("remapped_rows_pending") == 1);
  CHECK(gpu.at("ecc_uncorrected_aggregate") == 3);
  CHECK(gpu.at("pcie_width") == 8);
  CHECK(gpu.at("pcie_width_max") == 16);
  CHECK(gpu.at("pcie_replays") == 41);
}

TEST_CASE("a GPU that refuses every question has its reason in each fact") {
  const Json gpu = gpu_of("errors");
  for (const char* key : {"name", "uuid", "sm_clock_hz", "power_limit_w", "ecc", "energy_j",
                          "remapped_rows_pending", "pcie_width", "compute_processes",
                          "throttled_power_s", "fabric", "mig_mode", "event_reasons"}) {
    INFO(key);
    CHECK(gpu.at(key) == unreadable("GPU is lost"));
  }
  CHECK(gpu.at("nvlink").at("states") == unreadable("GPU is lost"));
}

TEST_CASE("a call or a field that this driver lacks is unreadable, and the others stay") {
  const Json gpu = gpu_of("healthy");
  CHECK(gpu.at("module_id") == unreadable("not supported by this driver's NVML"));
  CHECK(gpu.at("inforom") == unreadable("not supported by this driver's NVML"));
  CHECK(gpu.at("recovery_action") == unreadable("Not Supported"));
  CHECK(gpu.at("throttled_power_brake_s") == unreadable("Not Supported"));
}

TEST_CASE("a driver that never answers is a fact, within the deadline") {
  const FakeNvml nvml("hangs");
  Guard guard;
  guard.deadline = Seconds{0.15};
  const auto begin = std::chrono::steady_clock::now();
  const Json facts = read_gpu_facts(nvml.library(), guard);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(facts == unreadable("NVML did not answer within 0.15 s; the driver may hang"));
  CHECK(took.count() < 5.0);
}

TEST_CASE("a driver that crashes takes only the child with it") {
  CHECK_THAT(facts_of("crashes").at("unreadable").get<std::string>(), Contains("crashed"));
}

TEST_CASE("a driver that does not start, and one that is not there, say so") {
  CHECK(facts_of("no_driver") == unreadable("cannot initialise NVML: Driver Not Loaded"));
  const Json none = read_gpu_facts("libthere-is-no-such-nvml.so.1");
  CHECK_THAT(none.at("unreadable").get<std::string>(),
             Contains("no NVIDIA driver: cannot load libthere-is-no-such-nvml.so.1"));
}

TEST_CASE("a name without an end stays within its buffer") {
  const Json gpu = gpu_of("long_answers");
  CHECK(gpu.at("name").get<std::string>().size() < 1024);
  CHECK(gpu.at("uuid") == "GPU-12345678-9abc-def0-1234-56789abcdef0");
}

TEST_CASE("each reason for a lower clock has a name") {
  CHECK(nvml::reason_names(0x1ff).size() == 9);
  CHECK(nvml::reason_names(0x80) == Json{"hw_power_brake"});
}

}  // namespace
}  // namespace bench
