#include "devices/host/memory_arrays.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::size_t kLine = 8;           // elements of a cache line
constexpr std::size_t kPage = 512;         // elements of 4 KiB
constexpr std::size_t kStagger = 64;       // keeps arrays off equal offsets in a page (triad: 3 %)
constexpr std::size_t kSlack = 2 * kPage;  // room for the copy's shift and for rounding
constexpr std::size_t kRegionGrain = (std::size_t{2} << 20) / sizeof(double);

std::size_t round_down(std::size_t value, std::size_t grain) { return value / grain * grain; }
std::size_t round_up(std::size_t value, std::size_t grain) {
  return round_down(value + grain - 1, grain);
}

/// Larger regions begin on a huge page, so that no page is shared by two threads.
std::size_t region_elements(double bytes, int threads) {
  const auto share = static_cast<std::size_t>(bytes / threads / sizeof(double));
  const std::size_t needed = share + kSlack;
  return round_up(needed, needed > kRegionGrain ? kRegionGrain : kPage);
}

/// For regions of any number of threads up to the maximum.
std::size_t mapping_bytes(const ArraysRequest& bounds) {
  const auto data = static_cast<std::size_t>(bounds.bytes);
  const auto rounding = (kSlack + kRegionGrain) * sizeof(double);
  return data + static_cast<std::size_t>(bounds.threads) * rounding;
}

std::size_t elements_per_array(const StreamRequest& request) {
  const double bytes = request.bytes / request.threads / array_count(request.kernel);
  return round_down(static_cast<std::size_t>(bytes / sizeof(double)), kLine);
}

}  // namespace

HostArrays::HostArrays(const ArraysRequest& request, std::vector<int> cores, bool near,
                       HostThreadWatch& watch, const StreamKernels& kernels)
    : bounds_(request), cores_(std::move(cores)), near_(near), watch_(watch), kernels_(kernels) {
  divide(request.threads);
}

/// Divides the memory between threads. Pages stay where they were first touched, so that memory is
/// reallocated if locality matters.
void HostArrays::divide(int threads) {
  if (threads > bounds_.threads)
    throw Error(ErrorKind::internal, "more threads requested than the arrays were allocated for");
  if (team_ && team_->size() == threads) return;
  team_.reset();
  shares_.reset();
  if (!mapping_ || near_) {
    mapping_.reset();
    mapping_ = std::make_unique<PageMapping>(mapping_bytes(bounds_), bounds_.pages,
                                             bounds_.place.memory_node);
  }
  team_ =
      std::make_unique<Team>(std::vector<int>(cores_.begin(), cores_.begin() + threads), watch_);
  results_.assign(static_cast<std::size_t>(threads), {});
  region_ = region_elements(bounds_.bytes, threads);
  filled_ = 0;
  fill_to(region_);
}

double HostArrays::huge_share() const {
  return mapping_->huge_share(region_ * results_.size() * sizeof(double));
}

double* HostArrays::region(int thread) const {
  return reinterpret_cast<double*>(mapping_->data()) + first_index(thread);
}

double HostArrays::mark(std::int64_t call) const {
  return static_cast<double>((earlier_ + call) & 0xfffff) + 2.0;
}

void HostArrays::fill_to(std::size_t end) {
  if (end <= filled_) return;
  team_->run([&](int thread) {
    kernels_.fill(region(thread) + filled_, first_index(thread) + filled_, end - filled_);
  });
  filled_ = end;
}

StreamAmount HostArrays::prepare(const StreamRequest& request) {
  const MemoryKernel kernel = request.kernel;
  const int arrays = array_count(kernel);
  divide(request.threads);
  const std::size_t length = elements_per_array(request);
  if (length < kLine)
    throw Error(ErrorKind::input,
                "a working set of " + std::to_string(static_cast<std::int64_t>(request.bytes)) +
                    " bytes is less than a cache line of each array for each of " +
                    std::to_string(team_->size()) + " threads",
                "increase the working set");
  if (length * static_cast<std::size_t>(arrays) + kSlack > region_)
    throw Error(ErrorKind::internal, "the stream is larger than its arrays");

  const std::size_t most =
      round_down(kWindowBytes / sizeof(double) / static_cast<std::size_t>(arrays), kPage);
  layout_ = {};
  layout_.window = std::min(length, most);
  layout_.windows = length / layout_.window;
  const std::size_t n = layout_.length();
  shift_ = kPage - shift_;
  if (kernel == MemoryKernel::copy) {
    layout_.b = shift_;  // results of an earlier copy are then wrong everywhere
    layout_.a = n + kPage + kStagger;
  } else if (kernel == MemoryKernel::triad) {
    layout_.c = n + kStagger;
    layout_.a = 2 * (n + kStagger);
  }
  const bool reads_only = kernel == MemoryKernel::read;
  fill_to(reads_only ? n : layout_.a);
  if (!reads_only) filled_ = std::min(filled_, layout_.a);

  request_ = request;
  earlier_ += done_;
  done_ = 0;
  last_calls_ = 0;
  const double one = static_cast<double>(layout_.window) * sizeof(double) * team_->size();
  const double allocated = request.stores == Stores::plain ? one : 0.0;
  return {one * arrays, one * arrays + allocated};
}

void HostArrays::run(std::int64_t calls) {
  last_calls_ = calls;
  team_->run([this](int thread) { stream(thread, last_calls_); });
  done_ += calls;
}

void HostArrays::stream(int thread, std::int64_t calls) {
  const bool nontemporal = request_.stores == Stores::nontemporal;
  const auto write = nontemporal ? kernels_.write_nontemporal : kernels_.write;
  const auto copy = nontemporal ? kernels_.copy_nontemporal : kernels_.copy;
  const auto triad = nontemporal ? kernels_.triad_nontemporal : kernels_.triad;
  const std::size_t n = layout_.window;
  double* const a = region(thread) + layout_.a;
  const double* const b = region(thread) + layout_.b;
  const double* const c = region(thread) + layout_.c;
  std::uint64_t sum = 0;
  std::size_t window = static_cast<std::size_t>(done_) % layout_.windows;
  for (std::int64_t call = done_; call < done_ + calls; ++call) {
    const std::size_t at = window * n;
    switch (request_.kernel) {
      case MemoryKernel::read:
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(kernels_.read(b + at, n)));
        break;
      case MemoryKernel::write:
        write(a + at, mark(call), n);
        break;
      case MemoryKernel::copy:
        copy(a + at, b + at, n);
        break;
      case MemoryKernel::triad:
        triad(a + at, b + at, c + at, mark(call), n);
        break;
    }
    if (++window == layout_.windows) window = 0;
  }
  results_[static_cast<std::size_t>(thread)].sum = sum;
}

Check HostArrays::verify() {
  Check check{"exact integers", 0.0, 0.0};
  if (done_ == 0) throw Error(ErrorKind::internal, "the stream was verified before it ran");
  team_->run(
      [this](int thread) { results_[static_cast<std::size_t>(thread)].error = error_of(thread); });
  for (const Result& result : results_) check.error = worse_deviation(check.error, result.error);
  return check;
}

double HostArrays::error_of(int thread) const {
  return request_.kernel == MemoryKernel::read ? sum_error(thread) : write_error(thread);
}

std::optional<double> HostArrays::core_share() {
  if (!shares_) shares_.emplace(team_->size(), "");
  return shares_->smallest([this](const auto& work) { team_->run(work); });
}

/// The sum of the last run(): so many whole turns, and some windows more.
double HostArrays::sum_error(int thread) const {
  const auto windows = static_cast<std::int64_t>(layout_.windows);
  const std::int64_t turns = last_calls_ / windows;
  const std::int64_t first = (done_ - last_calls_) % windows;
  std::uint64_t expected = 0;
  for (std::int64_t window = 0; window < windows; ++window) {
    const bool again = (window - first + windows) % windows < last_calls_ % windows;
    const auto times = static_cast<std::uint64_t>(turns + (again ? 1 : 0));
    if (times == 0) continue;
    const std::uint64_t at =
        first_index(thread) + static_cast<std::uint64_t>(window) * layout_.window;
    expected += times * static_cast<std::uint64_t>(pattern_sum(at, layout_.window));
  }
  const std::uint64_t sum = results_[static_cast<std::size_t>(thread)].sum;
  return std::abs(static_cast<double>(static_cast<std::int64_t>(sum - expected)));
}

/// Each window must hold the data of its last call; unused windows are skipped.
double HostArrays::write_error(int thread) const {
  const auto windows = static_cast<std::int64_t>(layout_.windows);
  const std::size_t n = layout_.window;
  double error = 0.0;
  for (std::int64_t window = 0; window < std::min(windows, done_); ++window) {
    const std::int64_t last = done_ - 1 - (done_ - 1 - window) % windows;
    const std::size_t at = static_cast<std::size_t>(window) * n;
    const double* a = region(thread) + layout_.a + at;
    const std::uint64_t b = first_index(thread) + layout_.b + at;
    const std::uint64_t c = first_index(thread) + layout_.c + at;
    if (request_.kernel == MemoryKernel::write)
      error = worse_deviation(error, constant_error(a, mark(last), n));
    else if (request_.kernel == MemoryKernel::copy)
      error = worse_deviation(error, copy_error(a, b, n));
    else
      error = worse_deviation(error, triad_error(a, b, c, mark(last), n));
  }
  return error;
}

std::span<double> HostArrays::sources(int thread) const {
  const std::size_t arrays = request_.kernel == MemoryKernel::triad ? 2 : 1;
  if (request_.kernel == MemoryKernel::write) return {};
  return {region(thread) + layout_.b, (arrays - 1) * layout_.c + layout_.length()};
}

std::span<double> HostArrays::destination(int thread) const {
  if (request_.kernel == MemoryKernel::read) return {};
  return {region(thread) + layout_.a, layout_.length()};
}

}  // namespace bench
