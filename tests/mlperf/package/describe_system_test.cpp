#include "mlperf/package/describe_system.h"

#include <algorithm>

#include "mlperf/submission/system_description.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

Machine gpu_host(const std::string& name) {
  Machine machine;
  machine.host = name;
  machine.facts = {
      {"cpu_model", "AMD EPYC 9575F"},
      {"packages", 2},
      {"cores", 128},
      {"hardware_threads", 256},
      {"memory_bytes", 1.6e12},
      {"os", "Ubuntu 24.04.3 LTS"},
      {"kernel", "6.8.0"},
      {"memory_modules",
       Json::array(
           {{{"type", "DDR5"}, {"size_bytes", 68719476736.0}, {"transfers_per_s", 5.6e9}},
            {{"type", "DDR5"}, {"size_bytes", 68719476736.0}, {"transfers_per_s", 5.6e9}}})},
      {"caches", Json::array({{{"name", "l2"}, {"size_bytes", 1048576}, {"count", 128}}})},
      {"nvme", Json::array({{{"size_bytes", 3.84e12}}, {{"size_bytes", 3.84e12}}})},
      {"infiniband", Json::array({{{"ports", Json::array({{{"rate", "400 Gb/sec (4X NDR)"},
                                                           {"link_layer", "InfiniBand"}}})}}})},
      {"network", Json::array({{{"name", "ib0"}, {"speed_bits_per_s", 4e11}},
                               {{"name", "eth0"}, {"speed_bits_per_s", 2.5e10}}})},
      {"gpus",
       {{"driver", "580.82.07"},
        {"gpus", Json::array({{{"name", "NVIDIA H100"},
                               {"memory_bytes", 85520809984.0},
                               {"pcie_generation_max", 5},
                               {"pcie_width_max", 16},
                               {"sm_clock_max_hz", 1.98e9},
                               {"nvlink", Json::array({1, 2})}}})}}}};
  return machine;
}

Json own_programs() {
  return Json::array(
      {{{"name", "benchctl"}, {"version", "0.1.0"}, {"libraries", Json::object()}},
       {{"name", "bench-rank-cuda"}, {"version", "0.1.0"}, {"libraries", {{"nccl", "2.28.3"}}}}});
}

bool is_to_fill(const DescribedSystem& system, const std::string& what) {
  return std::ranges::any_of(system.todo, [&](const TodoItem& one) { return one.what == what; });
}

}  // namespace

TEST_CASE("a system description contains the facts of its hosts") {
  const std::vector<Machine> hosts = {gpu_host("n1"), gpu_host("n2")};
  SystemOptions words{.submitter = "acme", .status = "Available cloud", .system_name = "two nodes"};
  const DescribedSystem found = describe_system(hosts, own_programs(), words);
  const Json& fields = found.fields;
  CHECK(fields["number_of_nodes"] == "2");
  CHECK(fields["host_processors_per_node"] == "2");
  CHECK(fields["host_processor_core_count"] == "64");
  CHECK(fields["host_processor_vcpu_count"] == "128");
  CHECK(fields["host_processor_caches"] == "L2: 128x 1 MiB");
  CHECK(fields["host_memory_capacity"] == "128 GiB");
  CHECK(fields["host_memory_configuration"] == "2x 64 GiB DDR5 5600 MT/s");
  CHECK(fields["host_storage_capacity"] == "2x 3.84 TB");
  CHECK(fields["host_networking"] == "1x 25 Gb/s Ethernet, 1x 400 Gb/sec (4X NDR) InfiniBand");
  CHECK(fields["accelerators_per_node"] == "1");
  CHECK(fields["accelerator_model_name"] == "NVIDIA H100");
  CHECK(fields["accelerator_memory_capacity"] == "81559 MiB");
  CHECK(fields["accelerator_host_interconnect"] == "PCIe Gen5 x16");
  CHECK(fields["framework"] == "benchctl 0.1.0");
  CHECK(fields["other_software_stack"]["nccl"] == "2.28.3");
  CHECK(fields["other_software_stack"]["nvidia_kernel_driver"] == "580.82.07");
  for (const std::string& name : system_fields()) CHECK(fields.contains(name));
  const SystemDescription read = system_description(fields);
  CHECK(std::ranges::find(system_statuses(), read.status) != system_statuses().end());
  CHECK(read.division == "open");
  CHECK(read.nodes == 2);
  CHECK(read.processors_per_node == 2);
  CHECK(read.accelerators_per_node == 1);
  CHECK(is_to_fill(found, "cooling"));
  CHECK_FALSE(is_to_fill(found, "accelerator_model_name"));
}

TEST_CASE("unknown fields are empty and listed, never guessed") {
  Machine bare;
  bare.host = "n1";
  bare.facts = {{"cpu_model", "unreadable"},
                {"packages", "unreadable"},
                {"memory_modules", "unreadable: no permission"},
                {"gpus", {{"unreadable", "x"}}}};
  const DescribedSystem found = describe_system(std::vector<Machine>{bare}, Json::array(), {});
  CHECK(found.fields["host_processor_model_name"] == "");
  CHECK(found.fields["host_memory_capacity"] == "");
  CHECK(found.fields["accelerators_per_node"] == "0");
  for (const char* field : {"host_processor_model_name", "host_memory_capacity", "submitter",
                            "status", "system_name", "framework"})
    CHECK(is_to_fill(found, field));
  CHECK_FALSE(is_to_fill(found, "accelerator_frequency"));  // no accelerator
  CHECK(is_to_fill(describe_system({}, Json::array(), {}), "accelerator_frequency"));  // unknown
}

TEST_CASE("differing hosts are reported, and user-supplied fields take precedence") {
  Machine other = gpu_host("n2");
  other.facts["cpu_model"] = "AMD EPYC 9654";
  const std::vector<Machine> hosts = {gpu_host("n1"), other};
  DescribedSystem found = describe_system(hosts, own_programs(), {});
  CHECK(found.fields["host_processor_model_name"] == "AMD EPYC 9575F | AMD EPYC 9654");
  CHECK(is_to_fill(found, "host_processor_model_name"));
  SystemOptions words;
  words.fields = {{"host_processor_model_name", "EPYC"}, {"cooling", "Air-cooled"}};
  found = describe_system(hosts, own_programs(), words);
  CHECK(found.fields["host_processor_model_name"] == "EPYC");
  CHECK_FALSE(is_to_fill(found, "host_processor_model_name"));
  CHECK_FALSE(is_to_fill(found, "cooling"));
}

}  // namespace bench::mlperf
