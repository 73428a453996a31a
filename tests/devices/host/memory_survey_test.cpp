#include "devices/host/memory_survey.h"

#include <fstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

class FakeRoot {
 public:
  void file(const std::string& path, const std::string& text) const {
    const auto full = directory_.path() / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text << "\n";
  }
  void cache(int index, int level, const std::string& type, const std::string& size,
             const std::string& cpus) const {
    const std::string folder = "sys/devices/system/cpu/cpu4/cache/index" + std::to_string(index);
    file(folder + "/level", std::to_string(level));
    file(folder + "/type", type);
    file(folder + "/size", size);
    file(folder + "/shared_cpu_list", cpus);
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("caches are read from the first core's folder, without the instruction cache") {
  FakeRoot root;
  root.cache(0, 1, "Data", "48K", "4");
  root.cache(1, 1, "Instruction", "64K", "4");
  root.cache(2, 2, "Unified", "2048K", "4");
  root.cache(3, 3, "Unified", "32M", "4-11");
  const auto caches = read_caches({4, 5, 6, 20}, root.path());
  REQUIRE(caches.size() == 3);
  CHECK(caches[0].bytes == 48 * 1024);
  CHECK(caches[1].level == 2);
  CHECK(caches[2].bytes == 32 * 1048576.0);
  CHECK(caches[2].shared_by == 3);  // core 20 has another
}

TEST_CASE("unreadable or invalid cache entries are omitted") {
  FakeRoot root;
  CHECK(read_caches({0}, root.path()).empty());
  CHECK(read_caches({}, root.path()).empty());
  root.cache(0, 1, "Data", "garbage", "4");
  CHECK(read_caches({4}, root.path()).empty());
}

TEST_CASE("nodes come with this rank's cores and whether they have memory") {
  FakeRoot root;
  root.file("sys/devices/system/node/online", "0-2");
  root.file("sys/devices/system/node/node0/cpulist", "0-3");
  root.file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1024 kB");
  root.file("sys/devices/system/node/node1/cpulist", "4-7");
  root.file("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       0 kB");
  root.file("sys/devices/system/node/node2/cpulist", "");
  root.file("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:       512 kB");
  const auto nodes = read_memory_nodes({1, 2, 5}, root.path());
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].cores == std::vector<int>{1, 2});
  CHECK(nodes[0].has_memory);
  CHECK(nodes[1].cores == std::vector<int>{5});
  CHECK_FALSE(nodes[1].has_memory);
  CHECK(nodes[2].cores.empty());
}

TEST_CASE("available memory is the least of what the machine and the control groups leave") {
  FakeRoot root;
  CHECK(read_available_bytes(root.path()) == 0.0);
  root.file("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   8000 kB");
  CHECK(read_available_bytes(root.path()) == 8000 * 1024.0);

  SECTION("version 2, limited above this process's own group") {
    root.file("proc/self/cgroup", "0::/a/b");
    root.file("sys/fs/cgroup/a/b/memory.max", "max");
    root.file("sys/fs/cgroup/a/memory.max", "4096000");
    root.file("sys/fs/cgroup/a/memory.current", "96000");
    CHECK(read_available_bytes(root.path()) == 4000000.0);
    root.file("sys/fs/cgroup/a/memory.current", "4000000");  // nearly all of it page cache
    root.file("sys/fs/cgroup/a/memory.stat",
              "anon 96000\ninactive_file 3000000\nactive_file 4000\nslab_reclaimable 900000\n");
    CHECK(read_available_bytes(root.path()) == 3996000.0);
  }
  SECTION("version 1") {
    root.file("proc/self/cgroup", "4:memory:/job\n3:cpu:/job");
    root.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000");
    root.file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000000");
    CHECK(read_available_bytes(root.path()) == 0.0);
    root.file("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 1500000\n");
    CHECK(read_available_bytes(root.path()) == 500000.0);
  }
  SECTION("no limit") {
    root.file("proc/self/cgroup", "0::/\ngarbage");
    CHECK(read_available_bytes(root.path()) == 8000 * 1024.0);
  }
}

}  // namespace bench
