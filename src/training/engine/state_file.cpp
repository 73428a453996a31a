#include "training/engine/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "training/engine/content_hash.h"
#include "training/engine/gradient_blocks.h"
#include "training/engine/graph.h"

namespace bench::training {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPage = 4096;  // what direct access aligns addresses, offsets and sizes to
constexpr std::int64_t kMostElements = std::int64_t{1} << 21;

std::int64_t in_whole_pages(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::int64_t size_in(const NamedView& array) {
  return static_cast<std::int64_t>(size_of(array.view.dtype));
}

/// How many requests at once: disks need several, and each takes time of its own.
int streams_for(const StateWindows& windows) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 18, kMost = 4;  // elements; requests
  return static_cast<int>(std::clamp<std::int64_t>(windows.size / kLeast, 1, kMost));
}

/// A file without a name. Direct access where the file system has it.
Descriptor create_file(const fs::path& folder, bool& direct) {
  std::error_code ignored;  // mkostemp() says why it fails
  fs::create_directories(folder, ignored);
  std::string path = folder / "benchctl-optimizer-XXXXXX";
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid())
    throw_errno("create " + path + " for optimizer state",
                "choose a folder in which this user can create files");
  ::unlink(path.c_str());
  direct = ::fcntl(file.get(), F_SETFL, O_DIRECT) == 0;
  return file;
}

/// Of zeros: where the file system cannot reserve space, by writing them.
void reserve(int file, std::int64_t bytes, const fs::path& folder) {
  constexpr std::int64_t kPart = 1 << 20;
  const auto fail = [&] {
    throw_errno(fmt::format("reserve {} for optimizer state in {}",
                            format(Bytes{static_cast<double>(bytes)}), folder.string()),
                "free space there or choose another folder");
  };
  if (::fallocate(file, 0, 0, bytes) == 0) return;
  if (errno != EOPNOTSUPP) fail();
  const MemoryBlock zeros(kPart, "zeros for a file");
  for (std::int64_t at = 0; at < bytes;) {
    const auto part = static_cast<std::size_t>(std::min(kPart, bytes - at));
    const ssize_t done = ::pwrite(file, zeros.data(), part, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail();
    at += done;
  }
}

std::shared_ptr<std::byte> map(int file, std::int64_t bytes, const fs::path& folder) {
  const auto size = static_cast<std::size_t>(bytes);
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    throw_errno("map optimizer state in " + folder.string(), "choose another folder");
  return {static_cast<std::byte*>(mapped), [size](std::byte* data) { ::munmap(data, size); }};
}

}  // namespace

StateWindows StateWindows::of(std::int64_t elements) {
  constexpr std::int64_t kWindows = 16;
  const std::int64_t blocks = (elements + kWindows * kBlock - 1) / (kWindows * kBlock);
  return {elements, std::min(kMostElements, blocks * kBlock)};
}

StateFile::StateFile(const fs::path& folder, std::vector<NamedView> buffers,
                     const StateWindows& windows)
    : folder_(folder),
      buffers_(std::move(buffers)),
      windows_(windows),
      written_(static_cast<std::size_t>(windows.count())),
      places_(static_cast<std::size_t>(windows.count()), Place::file),
      streams_(streams_for(windows)) {
  if (windows_.count() == 0) return;
  for (const NamedView& array : buffers_) {
    require(reinterpret_cast<std::uintptr_t>(array.view.data) % kPage == 0, "state file",
            "a buffer does not begin with a page");
    offsets_.push_back(traffic_.file_bytes);
    traffic_.file_bytes += in_whole_pages(windows_.elements * size_in(array));
  }
  file_ = create_file(folder, traffic_.direct);
  reserve(file_.get(), traffic_.file_bytes, folder);
  mapped_ = map(file_.get(), traffic_.file_bytes, folder);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::environment,
                std::string("cannot start a thread for optimizer state: ") + error.what(),
                "raise the process limit (ulimit -u)");
  }
}

StateFile::~StateFile() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StateFile::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

/// With the lock held.
void StateFile::request(const Task& task) {
  if (!task.writes) places_[static_cast<std::size_t>(task.window)] = Place::requested;
  tasks_.push_back(task);
  changed_.notify_all();
}

void StateFile::acquire(std::int64_t window) {
  const Seconds begin = steady_now();
  std::unique_lock lock(mutex_);
  // The first step has nothing in its buffers.
  const std::int64_t last = std::min(window + StateWindows::kBuffers, windows_.count());
  for (std::int64_t next = window; next < last; ++next)
    if (places_[static_cast<std::size_t>(next)] == Place::file) request({false, next});
  const Place& place = places_[static_cast<std::size_t>(window)];
  changed_.wait(lock, [&] { return failure_ || place == Place::buffer; });
  acquired_ = steady_now();
  traffic_.waited += acquired_ - begin;
  rethrow_failure();
}

void StateFile::release(std::int64_t window) {
  const std::lock_guard lock(mutex_);
  rethrow_failure();
  traffic_.updating += steady_now() - acquired_;
  places_[static_cast<std::size_t>(window)] = Place::file;
  request({true, window});
  const std::int64_t next = window + StateWindows::kBuffers;
  request({false, next < windows_.count() ? next : window % StateWindows::kBuffers});
}

void StateFile::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || (tasks_.empty() && !working_); });
  rethrow_failure();
}

std::vector<NamedView> StateFile::state() {
  settle();
  std::vector<NamedView> views;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    std::byte* data = mapped_ == nullptr ? nullptr : mapped_.get() + offsets_[i];
    views.push_back(
        {buffers_[i].name, {data, 1, windows_.elements, buffers_[i].view.dtype}, nullptr});
  }
  return views;
}

StateFile::Traffic StateFile::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

void StateFile::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    if (stop_) return;
    const Task task = tasks_.front();
    tasks_.pop_front();
    working_ = true;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      carry_out(task);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    working_ = false;
    if (!task.writes) places_[static_cast<std::size_t>(task.window)] = Place::buffer;
    if (thrown && !failure_) failure_ = thrown;
    changed_.notify_all();
  }
}

std::span<std::byte> StateFile::buffer_part(std::size_t array, std::int64_t window) const {
  const std::int64_t size = size_in(buffers_[array]);
  auto* first = buffers_[array].view.as<std::byte>() + windows_.buffer_of(window) * size;
  return {first, static_cast<std::size_t>(in_whole_pages(windows_.elements_in(window) * size))};
}

namespace {

/// One of the parts into which requests are divided, of whole pages.
template <class Bytes>
Bytes part_of_stream(Bytes bytes, int stream, int streams) {
  const auto begin_of = [&](int part) {
    const auto begin = static_cast<std::int64_t>(bytes.size()) * part / streams;
    return std::min(bytes.size(), static_cast<std::size_t>(in_whole_pages(begin)));
  };
  return bytes.subspan(begin_of(stream), begin_of(stream + 1) - begin_of(stream));
}

}  // namespace

std::uint64_t StateFile::hash_of(const std::vector<NamedView>& arrays, std::int64_t first,
                                 std::int64_t elements) {
  const int streams = streams_.size();
  std::vector<std::uint64_t> hashes(arrays.size() * static_cast<std::size_t>(streams));
  streams_.run([&](int stream) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      hashes[i * static_cast<std::size_t>(streams) + static_cast<std::size_t>(stream)] =
          content_hash(
              part_of_stream(bytes_of(part_of(arrays[i].view, first, elements)), stream, streams));
  });
  return content_hash(std::as_bytes(std::span(hashes)));
}

/// Reads or writes all arrays of a window.
void StateFile::carry_out(const Task& task) {
  const Seconds begin = steady_now();
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    bytes += std::ssize(buffer_part(i, task.window));
  streams_.run([&](int stream) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const std::span<std::byte> whole = buffer_part(i, task.window);
      const std::span<std::byte> part = part_of_stream(whole, stream, streams_.size());
      transfer(task,
               offsets_[i] + windows_.first(task.window) * size_in(buffers_[i]) +
                   (part.data() - whole.data()),
               part);
    }
  });
  const Seconds moved = steady_now();
  const std::uint64_t hash =
      hash_of(buffers_, windows_.buffer_of(task.window), windows_.elements_in(task.window));
  if (!task.writes) compare(task.window, hash);
  const std::lock_guard lock(mutex_);
  traffic_.moving += moved - begin;
  traffic_.hashing += steady_now() - moved;
  (task.writes ? traffic_.written_bytes : traffic_.read_bytes) += bytes;
  if (task.writes) written_[static_cast<std::size_t>(task.window)] = hash;
}

/// Storage that loses writes or changes bits would spoil a training silently. Only the thread
/// writes hashes, and verify() compares them while it has nothing to do.
void StateFile::compare(std::int64_t window, std::uint64_t hash) const {
  const auto& written = written_[static_cast<std::size_t>(window)];
  if (!written || *written == hash) return;
  throw Error(ErrorKind::environment,
              fmt::format("optimizer state read from the file in {} differs from what was written: "
                          "window {} of {}",
                          folder_.string(), window + 1, windows_.count()),
              "check the storage, or choose another folder");
}

void StateFile::verify() {
  const std::vector<NamedView> all = state();
  for (std::int64_t window = 0; window < windows_.count(); ++window)
    compare(window, hash_of(all, windows_.first(window), windows_.elements_in(window)));
}

void StateFile::transfer(const Task& task, std::int64_t at, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = task.writes ? ::pwrite(file_.get(), bytes.data(), bytes.size(), at)
                                     : ::pread(file_.get(), bytes.data(), bytes.size(), at);
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;  // the file ends early
    if (done <= 0)
      throw_errno(
          fmt::format("{} optimizer state in {}", task.writes ? "write" : "read", folder_.string()),
          "check the storage, or choose another folder");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += done;
  }
}

}  // namespace bench::training
