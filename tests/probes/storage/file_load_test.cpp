// Loads of small files: what is counted, what is found wrong, what the page cache holds.
#include "probes/storage/file_load.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <numeric>

#include "core/error.h"
#include "core/page_cache.h"
#include "probes/storage/async_queue.h"
#include "probes/storage/metadata_load.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/storage_file.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/support/catch.h"

namespace bench::storage {
namespace {

constexpr std::uint64_t kFile = 4u << 20;
using Catch::Matchers::Contains;

struct LoadedFile {
  DiskFolder folder;
  LoadRequest load;

  LoadedFile() {
    load.file = folder.path() / "data";
    load.file_bytes = kFile;
    load.block_bytes = 65536;
    load.duration = {0.1};
    load.slice = {0.01};
    load.access = Access::buffered;
    load.seed = 9;
    make_load_file(load.file, kFile, Access::buffered, load.seed);
  }
  LoadResult run() { return FileLoad(load).run(); }
};

}  // namespace

TEST_CASE("with once, all threads together read each block exactly once") {
  for (const Order order : {Order::sequential, Order::random}) {
    LoadedFile file;
    file.load.order = order;
    file.load.once = true;
    file.load.threads = 2;
    file.load.duration = {20.0};
    const LoadResult result = file.run();
    CHECK(result.bytes == kFile);
    CHECK(result.operations == kFile / 65536);
    CHECK(result.latency.count() == result.operations);
    CHECK(result.wrong_blocks == 0);
    CHECK(std::accumulate(result.slice_bytes.begin(), result.slice_bytes.end(), 0.0) == kFile);
    CHECK(result.first_pass.value > 0.0);
    CHECK(result.first_pass.value <= result.wall.value);
  }
}

TEST_CASE("a load ends after its duration") {
  LoadedFile file;
  const LoadResult result = file.run();
  CHECK(result.wall.value >= 0.1);
  CHECK(result.bytes > 0.0);
}

TEST_CASE("a misplaced block and a flipped byte are found on reading") {
  LoadedFile file;
  file.load.once = true;
  {
    StorageFile damaged(file.load.file, Access::buffered, OpenFor::writing);
    AlignedBuffer block(kBlockBytes);
    damaged.read(block.all(), 5 * kBlockBytes);
    damaged.write(block.all(), 9 * kBlockBytes);
  }
  CHECK(file.run().wrong_blocks == 1);
  make_load_file(file.load.file, kFile, Access::buffered, file.load.seed);
  {
    StorageFile damaged(file.load.file, Access::buffered, OpenFor::writing);
    // Bodies are looked at in each 32nd operation: of 64 KiB, the one that begins at 31 x 64 KiB.
    damaged.write(std::as_bytes(std::span("x", 1)), 31 * 65536 + 100);
  }
  CHECK(file.run().wrong_blocks == 1);
}

TEST_CASE("data written by a load is read back correctly, with and without syncs") {
  for (const std::int64_t sync_every : {0, 1, 8}) {
    LoadedFile file;
    file.load.direction = Direction::write;
    file.load.order = Order::random;
    file.load.sync_every = sync_every;
    const LoadResult written = file.run();
    CHECK(written.bytes == written.operations * 65536);
    file.load.direction = Direction::read;
    file.load.once = true;
    CHECK(file.run().wrong_blocks == 0);
  }
}

TEST_CASE("direct reads and writes with several in flight are correct") {
  LoadedFile file;
  if (!no_direct_access(file.folder.path()).empty() || !no_async_queue().empty()) {
    WARN("no direct or asynchronous I/O here");
    return;
  }
  file.load.access = Access::direct;
  file.load.depth = 8;
  file.load.order = Order::random;
  file.load.duration = {0.5};  // a disk that other tests use ends only the first eight in less
  for (const Direction direction : {Direction::write, Direction::read}) {
    file.load.direction = direction;
    const LoadResult result = file.run();
    CHECK(result.operations > 8);
    CHECK(result.latency.count() == result.operations);
    CHECK(result.wrong_blocks == 0);
  }
  file.load.once = true;
  file.load.duration = {20.0};
  CHECK(file.run().bytes == kFile);
}

TEST_CASE("a file shorter than the load is an error") {
  LoadedFile file;
  std::filesystem::resize_file(file.load.file, kFile / 2);
  CHECK_THROWS_WITH(file.run(), Contains("too early"));
}

TEST_CASE("a file too small for a block of each thread is refused") {
  LoadedFile file;
  file.load.threads = 100;
  CHECK_THROWS_WITH(file.run(), Contains("100 threads"));
}

TEST_CASE("a file is resident after reading, gone after eviction, and kept while mapped") {
  LoadedFile file;
  file.load.once = true;
  file.run();
  if (file.folder.in_memory()) return;
  CHECK(residence(file.load.file).share() == 1.0);
  CHECK(evict(file.load.file) == 0.0);
  const Descriptor open(::open(file.load.file.c_str(), O_RDONLY | O_CLOEXEC));
  void* mapped = mmap(nullptr, kFile, PROT_READ, MAP_SHARED | MAP_POPULATE, open.get(), 0);
  REQUIRE(mapped != MAP_FAILED);
  CHECK(evict(file.load.file) > kColdShare);
  munmap(mapped, kFile);
  CHECK(evict(file.load.file) == 0.0);
}

TEST_CASE("files are created, examined, listed and removed; an incomplete list is an error") {
  DiskFolder folder;
  MetadataLoad load(folder.path() / "many", 50, 2);
  for (const std::string& operation : kMetadataOperations) {
    const MetadataResult result = load.run(operation);
    CHECK(result.operations == 100);
    CHECK(result.latency.count() == (operation == "list" ? 2 : 100));
    CHECK(result.wall.value > 0.0);
    if (operation != "list") continue;
    std::filesystem::remove(folder.path() / "many" / "thread-1" / "f7");
    CHECK_THROWS_WITH(load.run("list"), Contains("lists 49 files"));
    CHECK_THROWS_WITH(load.run("stat"), Contains("f7"));
    break;
  }
}

}  // namespace bench::storage
