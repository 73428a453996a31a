// Several reads and writes of one thread in flight, by Linux's own asynchronous I/O (io_submit),
// called without its library. Only direct I/O is asynchronous there: through the page cache a
// submission blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench::storage {

class AsyncQueue {
 public:
  /// Throws Error(environment) where the kernel gives none.
  explicit AsyncQueue(int depth);
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  struct Operation {
    bool write = false;
    std::span<std::byte> memory;
    std::uint64_t offset = 0;
    int slot = 0;  // told on completion
  };
  /// Throws Error(environment). At most `depth` may be in flight.
  void submit(int file, const std::vector<Operation>& operations);

  /// Waits for at least one and tells each that is done: its slot, and the bytes moved or a
  /// negative errno.
  void wait(const std::function<void(int slot, std::int64_t result)>& done);

 private:
  unsigned long context_ = 0;
  int depth_;
};

/// Why there is no such queue here, in the kernel's words; "" where there is.
std::string no_async_queue();

}  // namespace bench::storage
