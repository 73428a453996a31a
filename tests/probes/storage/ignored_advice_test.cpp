// Where posix_fadvise() does nothing, as a preloaded library makes it, files stay in memory, and
// reads are no reads of the storage.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "tests/probes/storage/disk_folder.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"

namespace {

std::atomic<bool> ignored = false;

struct IgnoredAdvice {
  IgnoredAdvice() { ignored = true; }
  ~IgnoredAdvice() { ignored = false; }
  IgnoredAdvice(const IgnoredAdvice&) = delete;
  IgnoredAdvice& operator=(const IgnoredAdvice&) = delete;
};

}  // namespace

/// Instead of the C library's.
extern "C" int posix_fadvise(int file, off_t offset, off_t size, int advice) noexcept {
  if (ignored) return 0;
  return ::syscall(SYS_fadvise64, file, offset, size, advice) == 0 ? 0 : errno;
}

namespace bench::storage {
namespace {

/// The buffered reads of a job with a value, and those skipped because of the cache.
struct Reads {
  int measured = 0, skipped = 0;
};

Reads reads_of(ProbeJob& job, const std::string& metric) {
  Reads reads;
  for (const Samples& samples : job.of(metric)) {
    const std::string pattern = samples.params.value("pattern", "read");
    if (samples.params.at("access") != "buffered" || pattern.find("read") == pattern.npos) continue;
    const bool because = samples.reason.find("stayed in the page cache") != std::string::npos;
    reads.measured += samples.outcome == Status::skipped ? 0 : 1;
    reads.skipped += samples.outcome == Status::skipped && because ? 1 : 0;
  }
  return reads;
}

}  // namespace

TEST_CASE("reads of files that stay in memory are skipped, not measured") {
  DiskFolder folder;
  if (folder.in_memory()) return;  // nothing can be dropped there
  const Json params = {{"path", folder.path().string()}, {"model", "8b"}, {"scale", 0.0003},
                       {"chunk_bytes", 65536},           {"repeats", 2},  {"modes", {"sync"}},
                       {"access", {"buffered"}}};
  for (const bool cheated : {false, true}) {
    ProbeJob job("checkpoint", params);
    if (cheated) {
      const IgnoredAdvice advice;
      job.run();
    } else {
      job.run();
    }
    for (const char* metric : {"read_bandwidth", "read_time", "slowest_rank_read"}) {
      INFO(metric << (cheated ? ", advice ignored" : ""));
      const Reads reads = reads_of(job, metric);
      CHECK(reads.measured == (cheated ? 0 : 1));
      CHECK(reads.skipped == (cheated ? 1 : 0));
    }
    CHECK(job.of("write_time").size() == 1);
  }
}

TEST_CASE("a storage probe skips buffered reads of a file that stays in memory") {
  DiskFolder folder;
  if (folder.in_memory()) return;  // nothing can be dropped there
  const Json params = {{"path", folder.path().string()},
                       {"size_bytes", 4 << 20},
                       {"seconds", 0.1},
                       {"patterns", {"sequential_read", "random_read"}},
                       {"random_block_bytes", {16384}},
                       {"depths", {1}},
                       {"access", {"buffered"}}};
  ProbeJob job("storage", params);
  job.run();
  const Reads usual = reads_of(job, "bandwidth");
  CHECK(usual.measured == 2);
  CHECK(usual.skipped == 0);
  ProbeJob cheated("storage", params);
  const IgnoredAdvice advice;
  cheated.run();
  const Reads reads = reads_of(cheated, "bandwidth");
  CHECK(reads.measured <= 1);  // the first, of a file that was written past the cache
  CHECK(reads.skipped >= 1);
}

}  // namespace bench::storage
