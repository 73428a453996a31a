// The log that NCCL would write, written by the test as NCCL does: opened by name, a line at a
// time.
#include "devices/cuda/nccl_log.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/support/catch.h"

namespace bench {
namespace {

/// Without NCCL's variables, before and after.
class CleanEnvironment {
 public:
  CleanEnvironment() { clear(); }
  ~CleanEnvironment() { clear(); }

 private:
  static void clear() {
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) unsetenv(name);
  }
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_as_nccl_does() {
  File file(std::fopen(std::getenv("NCCL_DEBUG_FILE"), "w"), std::fclose);
  REQUIRE(file);
  setlinebuf(file.get());
  return file;
}

TEST_CASE("what NCCL logs is read once, in order, and whole lines only") {
  const CleanEnvironment environment;
  NcclLog log;
  CHECK(std::getenv("NCCL_DEBUG") == std::string("INFO"));
  CHECK_FALSE(log.chosen());
  const File file = open_as_nccl_does();
  std::fputs("n:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n", file.get());
  std::fputs(
      "n:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}\n",
      file.get());
  std::fputs(
      "n:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n",
      file.get());
  const auto ring = log.chosen();
  REQUIRE(ring);
  CHECK(ring->algorithm == "RING");  // of the last operation
  CHECK_FALSE(log.chosen());         // none since
  CHECK(log.used_paths().transports == std::set<std::string>{"P2P"});

  std::fputs("n:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo NV", file.get());
  std::fflush(file.get());
  CHECK_FALSE(log.chosen());
  std::fputs("LS proto SIMPLE channel{Lo..Hi}={0..15}\n", file.get());
  CHECK(log.chosen()->algorithm == "NVLS");
}

TEST_CASE("a long log is read to its end, and its memory is given back meanwhile") {
  const CleanEnvironment environment;
  NcclLog log;
  const File file = open_as_nccl_does();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20000; ++i)
      std::fprintf(file.get(), "n:1:1 [0] NCCL INFO %d Bytes -> Algo 1 proto 2 time 1.0\n", i);
    CHECK(log.chosen()->protocol == "SIMPLE");
  }
  std::fputs("n:1:1 [0] NCCL INFO 4 Bytes -> Algo 0 proto 0 time 1.0\n", file.get());
  CHECK(log.chosen()->algorithm == "TREE");
}

TEST_CASE("a log configured by the user is left alone") {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE"}) {
    const CleanEnvironment environment;
    setenv(name, "WARN", 1);
    NcclLog log;
    CHECK(std::getenv("NCCL_DEBUG_SUBSYS") == nullptr);
    CHECK_FALSE(log.chosen());
    CHECK(log.used_paths().transports.empty());
  }
}

}  // namespace
}  // namespace bench
