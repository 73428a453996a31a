#include "probes/backends/cuda/nvml/gpu_host.h"

#include "probes/unreadable.h"
#include "tests/support/catch.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

struct Fixture {
  TemporaryDirectory root;  // a host without anything of its own
  GpuHost host(const FakeNvml& nvml) {
    Guard guard;
    guard.deadline = Seconds{0.15};
    return GpuHost(nvml.library(), guard, SystemFiles(root.path()));
  }
};

TEST_CASE("a host with a GPU says what it is, who is on it, and what can be read") {
  Fixture f;
  const FakeNvml nvml("healthy");
  GpuHost host = f.host(nvml);
  CHECK(host.counters().empty());  // nobody asked whether the driver answers
  const auto facts = host.facts();
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].topic == "gpus");
  CHECK(facts[0].facts.at("gpus")[0].at("name") == "NVIDIA H100 80GB HBM3");
  CHECK(facts[1].topic == "preflight");
  CHECK(facts[1].facts.at("foreign_processes").size() == 2);
  CHECK(host.counters().size() == 4);
}

TEST_CASE("a driver that did not answer once is not asked while jobs run") {
  Fixture f;
  const FakeNvml nvml("hangs");
  GpuHost host = f.host(nvml);
  const auto facts = host.facts();
  CHECK(is_unreadable(facts[0].facts));
  CHECK(is_unreadable(facts[1].facts.at("foreign_processes")));
  CHECK(host.counters().empty());
}

}  // namespace
}  // namespace bench
