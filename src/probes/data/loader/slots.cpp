#include "probes/data/loader/slots.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/loader/placement.h"
#include "probes/device/copies.h"

namespace bench::data {
namespace {

/// Batches begin on a page of their own.
std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::string why_not_locked(int error) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string most = limit.rlim_cur == RLIM_INFINITY
                               ? "unlimited"
                               : format(Bytes{static_cast<double>(limit.rlim_cur)});
  return "the batches are not page-locked: " + std::generic_category().message(error) + " (" +
         most + " allowed; see ulimit -l)";
}

}  // namespace

Slots::Slots(const SlotsWish& wish)
    : bytes_(wish.bytes), stride_(whole_pages(wish.bytes)), all_(stride_ * wish.slots) {
  void* memory = ::mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw_errno("get " + format(Bytes{static_cast<double>(all_)}) + " for batches",
                "reduce num_workers, prefetch_factor or batch_size");
  memory_ = static_cast<std::byte*>(memory);
  labels_.assign(wish.slots, std::vector<std::int64_t>(wish.samples));
  std::thread([&] {
    try {
      run_on(wish.cpus);
      if (!wish.cpus.empty()) touch_where_it_runs();
    } catch (const Error& error) {
      obstacle_ = error.what();
    }
    std::memset(memory_, 0, all_);
  }).join();
  if (wish.locked) lock(wish.copies);
}

Slots::~Slots() {
  lock_.reset();
  ::munmap(memory_, all_);
}

void Slots::lock(Copies* copies) {
  if (copies == nullptr) {
    if (::mlock(memory_, all_) != 0) obstacle_ = why_not_locked(errno);
    return;
  }
  PageLockOffer offer = copies->lock({memory_, all_});
  lock_ = std::move(offer.lock);
  if (!lock_) obstacle_ = "the batches are not registered with the device: " + offer.reason;
}

}  // namespace bench::data
