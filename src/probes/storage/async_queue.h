// Several reads and writes of one thread in flight, by Linux AIO (io_submit) without libaio. Only
// direct I/O is asynchronous there: through the page cache a submission blocks.
#pragma once

#include <linux/aio_abi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::storage {

class AsyncQueue {
 public:
  /// Throws Error(environment) if the kernel refuses.
  explicit AsyncQueue(int depth);
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  struct Operation {
    bool write = false;
    std::span<std::byte> memory;
    std::uint64_t offset = 0;
    int slot = 0;  // returned on completion
  };
  /// Throws Error(environment). At most `depth` may be in flight.
  void submit(int file, std::span<const Operation> operations);

  struct Completion {
    int slot = 0;
    std::int64_t result = 0;  // the bytes moved, or a negative errno
  };
  /// Waits for at least one and returns all completions; valid until the next call. Allocates
  /// nothing: there are tens of thousands of calls per second.
  std::span<const Completion> wait();

 private:
  unsigned long context_ = 0;
  std::vector<iocb> blocks_ = {};
  std::vector<iocb*> pointers_ = {};
  std::vector<io_event> events_ = {};
  std::vector<Completion> completions_ = {};
};

/// Why there is no such queue here, in the kernel's words; "" if there is.
std::string no_async_queue();

}  // namespace bench::storage
