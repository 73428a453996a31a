#include "devices/nvml/gpu_host.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "devices/facts/unreadable.h"
#include "tests/support/catch.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

/// One more process on the make-believe GPU.
struct ChosenProcess {
  explicit ChosenProcess(const std::string& pid) { setenv("FAKE_NVML_PID", pid.c_str(), 1); }
  ~ChosenProcess() { unsetenv("FAKE_NVML_PID"); }
  ChosenProcess(const ChosenProcess&) = delete;
  ChosenProcess& operator=(const ChosenProcess&) = delete;
};

struct GpuHostFixture {
  TemporaryDirectory root;  // a host without anything of its own
  GpuHost host(const FakeNvml& nvml) {
    Guard guard;
    guard.deadline = Seconds{0.15};
    return GpuHost(nvml.library(), guard, SystemFiles(root.path()));
  }
};

TEST_CASE("a host with a GPU reports its GPUs, their processes and the readable counters") {
  GpuHostFixture f;
  const FakeNvml nvml("healthy");
  GpuHost host = f.host(nvml);
  CHECK(host.counters().empty());  // nobody asked whether the driver answers
  const auto facts = host.facts();
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].topic == "gpus");
  CHECK(facts[0].facts.at("gpus")[0].at("name") == "NVIDIA H100 80GB HBM3");
  CHECK(facts[1].topic == "preflight");
  CHECK(facts[1].facts.at("foreign_processes").size() == 2);
  CHECK(host.counters().size() == 5);
}

TEST_CASE("this job's own processes on the GPU are not foreign, others are named") {
  GpuHostFixture f;
  const FakeNvml nvml("healthy");
  const ChosenProcess ours(std::to_string(getpid()));
  const Json facts = f.host(nvml).facts({getpid()})[1].facts;
  CHECK(facts.at("foreign_processes").size() == 2);
  const std::string text = facts.at("warnings").at(0);
  CHECK(text.find("2 foreign processes are on the GPUs (GPU 0: one with pid 4711, GPU 0: one with "
                  "pid 4712)") == 0);
  // The same process is foreign to a job that did not start it.
  CHECK(f.host(nvml).facts()[1].facts.at("foreign_processes").size() == 3);
}

TEST_CASE("a rank that reports no facts still queries its driver before relying on it") {
  GpuHostFixture f;
  {
    const FakeNvml nvml("healthy");
    GpuHost host = f.host(nvml);
    CHECK(host.nvml() != nullptr);
    CHECK(host.counters().size() == 5);
  }
  const FakeNvml nvml("hangs");
  CHECK(f.host(nvml).nvml() == nullptr);
}

TEST_CASE("a driver that did not answer once is not asked while jobs run") {
  GpuHostFixture f;
  const FakeNvml nvml("hangs");
  GpuHost host = f.host(nvml);
  const auto facts = host.facts();
  CHECK(is_unreadable(facts[0].facts));
  CHECK(is_unreadable(facts[1].facts.at("foreign_processes")));
  CHECK(host.counters().empty());
}

}  // namespace
}  // namespace bench
