// Optimizer state in a file instead of memory: offload to storage, as of ZeRO-Infinity (arXiv
// 2104.07857). A step reads it, updates it and writes it back, window by window. Three windows are
// in memory: while one is updated, a thread of its own writes the one before and reads the next,
// with several requests at once.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"
#include "training/engine/worker_pool.h"
#include "training/kernels/memory.h"

namespace bench::training {

/// How the state of so many parameters is divided. Windows have whole blocks (gradient_blocks.h),
/// but for the end of the last one.
struct StateWindows {
  static constexpr std::int64_t kBuffers = 3;

  std::int64_t elements = 0;  // of each array of the state
  std::int64_t size = 0;      // elements of a window

  /// A sixteenth of the state, at most 2 Mi elements.
  static StateWindows of(std::int64_t elements);

  std::int64_t count() const { return size == 0 ? 0 : (elements + size - 1) / size; }
  std::int64_t window_of(std::int64_t element) const { return element / size; }
  std::int64_t first(std::int64_t window) const { return window * size; }
  std::int64_t elements_in(std::int64_t window) const {
    return std::min(size, elements - first(window));
  }
  /// Elements for which the optimizer has memory, and where in it a window lies.
  std::int64_t buffered() const { return size * std::min(kBuffers, count()); }
  std::int64_t buffer_of(std::int64_t window) const { return window % kBuffers * size; }
};

class StateFile {
 public:
  /// `buffers`: the arrays of an optimizer, in host memory, for windows.buffered() elements. The
  /// file, zeros at first, is created in `folder` (which is created too) and has no name, so that
  /// it disappears with the process. Throws Error(environment) if there is no room.
  StateFile(const std::filesystem::path& folder, std::vector<NamedView> buffers,
            const StateWindows& windows);
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  const StateWindows& windows() const { return windows_; }
  /// Waits until the window is in its buffer. Rethrows errors of the thread, as all that follow do:
  /// Error(environment) for storage that fails, or gives back other state than was written.
  void acquire(std::int64_t window);
  /// The window has been updated: writes it, and reads the next one that its buffer is for, after
  /// the last window of a step that of the next step.
  void release(std::int64_t window);
  /// Waits until nothing is being read or written.
  void settle();
  /// All of the state as one view of each array, mapped from the file once all is written. Values
  /// may be written there until the first acquire().
  std::vector<NamedView> state();
  /// Whether state() has what was written, which nothing else checks. Throws like acquire().
  void verify();

  struct Traffic {
    std::int64_t file_bytes = 0;
    std::int64_t read_bytes = 0, written_bytes = 0;
    Seconds moving;       // of the thread, reading and writing
    Seconds hashing;      // of the thread, in addition
    Seconds updating;     // between acquire() and release()
    Seconds waited;       // in acquire()
    bool direct = false;  // past the page cache (O_DIRECT)
  };
  Traffic traffic() const;

 private:
  struct Task {
    bool writes = false;
    std::int64_t window = 0;
  };
  enum class Place { file, requested, buffer };

  void serve();
  void carry_out(const Task& task);
  void transfer(const Task& task, std::int64_t at, std::span<std::byte> bytes) const;
  /// Of a window that begins there in each array.
  std::uint64_t hash_of(const std::vector<NamedView>& arrays, std::int64_t first,
                        std::int64_t elements);
  void compare(std::int64_t window, std::uint64_t hash) const;
  void request(const Task& task);
  void rethrow_failure() const;
  /// Part of a buffer of an array, in whole pages.
  std::span<std::byte> buffer_part(std::size_t array, std::int64_t window) const;

  std::filesystem::path folder_;
  std::vector<NamedView> buffers_;
  StateWindows windows_;
  std::vector<std::int64_t> offsets_ = {};  // of arrays in the file
  Descriptor file_ = {};
  std::shared_ptr<std::byte> mapped_ = {};
  std::vector<std::optional<std::uint64_t>> written_ = {};  // hashes by window
  Traffic traffic_ = {};

  mutable std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::deque<Task> tasks_ = {};
  bool working_ = false, stop_ = false;
  std::vector<Place> places_ = {};  // by window
  std::exception_ptr failure_ = {};
  WorkerPool streams_;  // of the thread
  Seconds acquired_ = {};
  std::thread thread_ = {};  // last: it uses all of the above
};

}  // namespace bench::training
