#include "probes/storage/shard_writer.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "devices/host_clock.h"
#include "probes/storage/crc32c.h"

namespace bench::storage {
namespace {

class ShardWriting {
 public:
  explicit ShardWriting(const ShardRequest& request)
      : request_(request),
        unfinished_(request.file.string() + kUnfinished),
        begin_(steady_now()),
        file_(open()) {
    result_.bytes = request.bytes;
    result_.checksums.resize(
        static_cast<std::size_t>(chunk_count(request.bytes, request.chunk_bytes)));
    result_.progress.reserve(result_.checksums.size());
  }
  ~ShardWriting() {
    if (!committed_) ::unlink(unfinished_.c_str());
  }
  ShardWriting(const ShardWriting&) = delete;
  ShardWriting& operator=(const ShardWriting&) = delete;

  WrittenShard run() {
    observe("preallocate");
    file_.preallocate(request_.bytes);
    {
      std::vector<std::jthread> threads;
      for (int thread = 1; thread < request_.threads; ++thread)
        threads.emplace_back([this, thread] { write_chunks(thread); });
      write_chunks(0);
    }
    if (failure_) std::rethrow_exception(failure_);
    result_.written = steady_now() - begin_;
    commit();
    result_.durable = steady_now() - begin_;
    return std::move(result_);
  }

 private:
  StorageFile open() {
    observe("open");
    return StorageFile(unfinished_, request_.access, OpenFor::writing_anew);
  }

  void observe(const char* operation) const {
    if (request_.observer) request_.observer(operation);
  }

  void write_chunks(int thread) noexcept try {
    const auto chunks = static_cast<std::int64_t>(result_.checksums.size());
    for (std::int64_t chunk = next_++; chunk < chunks && !failed_; chunk = next_++) {
      const auto bytes = request_.source(thread, chunk);
      result_.checksums[static_cast<std::size_t>(chunk)] = crc32c(bytes);
      observe("write");
      file_.write(bytes, static_cast<std::uint64_t>(chunk) * request_.chunk_bytes);
      const std::lock_guard lock(mutex_);
      done_ += static_cast<double>(bytes.size());
      result_.progress.push_back({steady_now() - begin_, done_});
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    if (!failure_) failure_ = std::current_exception();
  }

  void commit() {
    observe("sync");
    file_.sync();
    observe("rename");
    if (std::rename(unfinished_.c_str(), request_.file.c_str()) != 0)
      throw_errno("rename " + unfinished_ + " to " + request_.file.string());
    committed_ = true;
    observe("sync of the folder");
    sync_folder(request_.file.parent_path());
  }

  const ShardRequest& request_;
  std::string unfinished_;
  Seconds begin_;
  StorageFile file_;
  WrittenShard result_ = {};
  bool committed_ = false;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_ = {};
  double done_ = 0.0;
  std::exception_ptr failure_ = {};
};

}  // namespace

WrittenShard write_shard(const ShardRequest& request) { return ShardWriting(request).run(); }

}  // namespace bench::storage
