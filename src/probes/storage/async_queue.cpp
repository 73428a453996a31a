#include "probes/storage/async_queue.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace bench::storage {
namespace {

iocb control_block(int file, const AsyncQueue::Operation& operation) {
  iocb block{};
  block.aio_data = static_cast<std::uint64_t>(operation.slot);
  block.aio_lio_opcode =
      static_cast<std::uint16_t>(operation.write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD);
  block.aio_fildes = static_cast<std::uint32_t>(file);
  block.aio_buf = reinterpret_cast<std::uint64_t>(operation.memory.data());
  block.aio_nbytes = operation.memory.size();
  block.aio_offset = static_cast<std::int64_t>(operation.offset);
  return block;
}

}  // namespace

AsyncQueue::AsyncQueue(int depth) {
  if (syscall(SYS_io_setup, depth, &context_) != 0)
    throw_errno("set up " + std::to_string(depth) + " asynchronous operations (io_setup)",
                "use depth 1 with more threads, or raise /proc/sys/fs/aio-max-nr");
  const auto most = static_cast<std::size_t>(depth);
  blocks_.resize(most);
  events_.resize(most);
  pointers_.reserve(most);
  completions_.reserve(most);
}

AsyncQueue::~AsyncQueue() { syscall(SYS_io_destroy, context_); }

void AsyncQueue::submit(int file, std::span<const Operation> operations) {
  pointers_.clear();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    blocks_.at(i) = control_block(file, operations[i]);
    pointers_.push_back(&blocks_[i]);
  }
  std::size_t sent = 0;
  while (sent < pointers_.size()) {
    const long taken =
        syscall(SYS_io_submit, context_, pointers_.size() - sent, pointers_.data() + sent);
    if (taken < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (taken <= 0) throw_errno("submit an asynchronous operation (io_submit)");
    sent += static_cast<std::size_t>(taken);
  }
}

std::span<const AsyncQueue::Completion> AsyncQueue::wait() {
  long got = 0;
  do
    got = syscall(SYS_io_getevents, context_, 1L, static_cast<long>(events_.size()), events_.data(),
                  nullptr);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw_errno("wait for asynchronous operations (io_getevents)");
  completions_.clear();
  for (const io_event& event : std::span(events_).first(static_cast<std::size_t>(got)))
    completions_.push_back({static_cast<int>(event.data), event.res});
  return completions_;
}

std::string no_async_queue() {
  unsigned long context = 0;
  if (syscall(SYS_io_setup, 1, &context) != 0)
    return std::string("io_setup: ") + std::strerror(errno);
  syscall(SYS_io_destroy, context);
  return "";
}

}  // namespace bench::storage
