#include "devices/cuda/cuda_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "devices/chain_order.h"
#include "devices/cuda/candidates.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/injected_fault.h"
#include "devices/cuda/rotation.h"
#include "devices/cuda/stream_kernels.h"
#include "devices/memory.h"

namespace bench {
namespace {

constexpr std::size_t kSumBytes = kSumSlots * sizeof(std::uint64_t);

std::size_t whole_grains(double elements) {
  return static_cast<std::size_t>(elements) / kStreamGrain * kStreamGrain;
}

}  // namespace

CudaArraysLayout lay_out_arrays(const StreamRequest& request) {
  const int arrays = array_count(request.kernel);
  const std::size_t length = whole_grains(request.bytes / sizeof(double) / arrays);
  const std::size_t most =
      whole_grains(static_cast<double>(kCudaWindowBytes) / sizeof(double) / arrays);
  if (length == 0)
    throw Error(ErrorKind::input,
                "a working set of " + std::to_string(static_cast<std::int64_t>(request.bytes)) +
                    " bytes is less than " + std::to_string(kStreamGrain * sizeof(double)) +
                    " for each of " + std::to_string(arrays) + " arrays",
                "increase the working set");
  CudaArraysLayout layout;
  layout.windows = (length + most - 1) / most;
  layout.window = length / layout.windows / kStreamGrain * kStreamGrain;
  return layout;
}

std::vector<StreamWay> stream_ways(MemoryKernel kernel, bool evict_first, bool bulk) {
  std::vector<StreamWay> ways = {StreamWay::four, StreamWay::eight, StreamWay::sixteen};
  if (kernel != MemoryKernel::copy || evict_first) return ways;
  if (bulk) ways.push_back(StreamWay::bulk);
  ways.push_back(StreamWay::driver);
  return ways;
}

namespace {

/// Where streams run.
struct StreamPlace {
  cudaStream_t stream = nullptr;
  StreamTimer* timer = nullptr;
  bool bulk = false;  // has_bulk_copies()
};

class CudaArrays final : public MemoryArrays {
 public:
  CudaArrays(const ArraysRequest& request, const StreamPlace& place)
      : place_(place),
        stream_(place.stream),
        memory_(static_cast<std::size_t>(request.bytes)),
        sums_(kSumBytes),
        expected_sums_(kSumBytes) {}

  double huge_share() const override { return 0.0; }  // GPU memory has no such pages
  /// Poisons the output, so that results of earlier streams are wrong.
  StreamAmount prepare(const StreamRequest& request) override {
    request_ = request;
    layout_ = lay_out_arrays(request);
    done_ = 0;
    const std::size_t n = layout_.length();
    const auto arrays = static_cast<std::size_t>(array_count(request.kernel));
    const bool reads_only = request.kernel == MemoryKernel::read;
    const std::size_t sources = reads_only ? 1 : arrays - 1;
    if (n * arrays * sizeof(double) > memory_.bytes())
      throw Error(ErrorKind::internal, "the stream is larger than its arrays");
    if (sources > 0) launch_fill(memory_.as<double>(), 0, sources * n, stream_);
    choose_way();
    if (!reads_only)
      check(cudaMemsetAsync(destination(), 0xff, n * sizeof(double), stream_), "poison the output");
    check(cudaMemsetAsync(sums_.as<>(), 0, kSumBytes, stream_), "clear the sums");
    check(cudaStreamSynchronize(stream_), "fill the arrays");
    const double bytes = static_cast<double>(layout_.window * arrays * sizeof(double));
    return {bytes, bytes};  // a GPU writes whole sectors without reading them first
  }

  std::string way() const override { return std::string(kStreamWays.name(way_)); }

  void run(std::int64_t calls) override {
    const auto windows = static_cast<std::int64_t>(layout_.windows);
    for (std::int64_t call = done_; call < done_ + calls; ++call)
      launch_window(call % windows, call_mark(call));
    done_ += calls;
  }

  Check verify() override {
    if (done_ == 0) throw Error(ErrorKind::internal, "the stream was verified before it ran");
    const bool reads_only = request_.kernel == MemoryKernel::read;
    inject_fault_on_gpu(reads_only ? sums_.as<>() : static_cast<void*>(destination()));
    const double wrong = reads_only ? wrong_sum() : wrong_elements();
    return {"exact integers", wrong, 0.0};
  }

  double* destination() const {
    return memory_.as<double>() +
           static_cast<std::size_t>(array_count(request_.kernel) - 1) * layout_.length();
  }

 private:
  bool evict_first() const { return request_.stores == Stores::nontemporal; }

  void launch_window(std::int64_t window, double mark) {
    launch_stream(request_.kernel, way_, evict_first(), window_arrays(window), mark, layout_.window,
                  stream_);
  }

  /// By a few timings of the first window.
  void choose_way() {
    constexpr int kRounds = 4;
    constexpr double kTrialBytes = 1e9;  // a fraction of a millisecond
    const std::vector<StreamWay> ways = stream_ways(request_.kernel, evict_first(), place_.bulk);
    const double bytes =
        static_cast<double>(layout_.window) * array_count(request_.kernel) * sizeof(double);
    const auto calls = static_cast<std::int64_t>(std::clamp(kTrialBytes / bytes, 1.0, 200.0));
    for (const StreamWay way : ways) {  // loads its kernel, which the timer's gate must not hold
      way_ = way;
      launch_window(0, 0.0);
    }
    check(cudaStreamSynchronize(stream_), "try a way to move data");
    way_ = ways.at(fastest(ways.size(), kRounds, [&](std::size_t which) {
      way_ = ways.at(which);
      const auto enqueue = [&] {
        for (std::int64_t call = 0; call < calls; ++call) launch_window(0, 0.0);
      };
      return place_.timer->time(enqueue, calls).value;
    }));
  }

  StreamArrays window_arrays(std::int64_t window) const {
    const std::size_t at = static_cast<std::size_t>(window) * layout_.window;
    double* const first = memory_.as<double>();
    return {destination() + at, first + at, first + layout_.length() + at,
            sums_.as<std::uint64_t>()};
  }

  ExpectedWindow expected_window(std::int64_t window) const {
    const std::uint64_t at = static_cast<std::uint64_t>(window) * layout_.window;
    const std::int64_t last = last_visit(done_, static_cast<std::int64_t>(layout_.windows), window);
    return {request_.kernel, at, layout_.length() + at, call_mark(last)};
  }

  /// The GPU checks every element, the host some of the last window.
  double wrong_elements() {
    const auto windows = std::min(static_cast<std::int64_t>(layout_.windows), done_);
    DeviceMemory wrong(sizeof(std::uint64_t));
    check(cudaMemsetAsync(wrong.as<>(), 0, wrong.bytes(), stream_), "clear the count");
    for (std::int64_t window = 0; window < windows; ++window)
      launch_count_wrong(window_arrays(window).a, expected_window(window), layout_.window,
                         wrong.as<std::uint64_t>(), stream_);
    std::uint64_t count = 0;
    check(cudaMemcpyAsync(&count, wrong.as<>(), sizeof count, cudaMemcpyDeviceToHost, stream_),
          "read the count");
    check(cudaStreamSynchronize(stream_), "check the arrays");
    const double seen = wrong_elements_seen_by_host(windows - 1);
    return std::max(static_cast<double>(count), seen);
  }

  double wrong_elements_seen_by_host(std::int64_t window) const {
    const ExpectedWindow expected = expected_window(window);
    std::vector<double> some(kStreamGrain);
    double wrong = 0.0;
    for (const std::size_t first : {std::size_t{0}, layout_.window - kStreamGrain}) {
      copy_now(some.data(), window_arrays(window).a + first, kStreamGrain * sizeof(double),
               "read elements");
      for (std::size_t i = 0; i < some.size(); ++i)
        if (std::bit_cast<std::uint64_t>(some[i]) !=
            std::bit_cast<std::uint64_t>(expected_element(expected, first + i)))
          ++wrong;
    }
    return wrong;
  }

  /// All calls since prepare() against the sum of the pattern: the absolute difference.
  double wrong_sum() {
    const auto windows = static_cast<std::int64_t>(layout_.windows);
    std::uint64_t expected = 0;
    for (std::int64_t window = 0; window < std::min(windows, done_); ++window) {
      check(cudaMemsetAsync(expected_sums_.as<>(), 0, kSumBytes, stream_), "clear the sums");
      launch_expected_sum(static_cast<std::uint64_t>(window) * layout_.window, layout_.window,
                          expected_sums_.as<std::uint64_t>(), stream_);
      expected +=
          total(expected_sums_) * static_cast<std::uint64_t>(visits(done_, windows, window));
    }
    const std::uint64_t off = total(sums_) - expected;
    return static_cast<double>(std::min(off, std::uint64_t{0} - off));
  }

  std::uint64_t total(const DeviceMemory& sums) const {
    std::vector<std::uint64_t> slots(kSumSlots);
    check(cudaMemcpyAsync(slots.data(), sums.as<>(), kSumBytes, cudaMemcpyDeviceToHost, stream_),
          "read the sums");
    check(cudaStreamSynchronize(stream_), "read the sums");
    return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  }

  const StreamPlace place_;
  cudaStream_t stream_;
  DeviceMemory memory_;
  DeviceMemory sums_;
  DeviceMemory expected_sums_;
  StreamRequest request_;
  CudaArraysLayout layout_;
  StreamWay way_ = StreamWay::four;
  std::int64_t done_ = 0;  // calls since prepare()
};

constexpr unsigned kLeastBits = 2;  // until the first prepare()

class CudaChain final : public MemoryChain {
 public:
  CudaChain(const ChainRequest& request, cudaStream_t stream)
      : seed_(request.seed),
        stream_(stream),
        order_(kLeastBits, seed_),
        memory_(static_cast<std::size_t>(request.bytes)),
        position_(sizeof(std::uint64_t)) {}

  double huge_share() const override { return 0.0; }
  void prepare(double bytes) override {
    order_ = ChainOrder(chain_bits(bytes, kNodeBytes, memory_.bytes()), seed_);
    constexpr std::size_t kWords = kNodeBytes / sizeof(std::uint64_t);
    std::vector<std::uint64_t> nodes(order_.nodes() * kWords, 0);
    for (std::uint64_t i = 0; i < order_.nodes(); ++i)
      nodes[i * kWords] = order_.next(i) * kNodeBytes;
    const std::uint64_t start = order_.after(0) * kNodeBytes;
    copy_now(memory_.as<>(), nodes.data(), nodes.size() * sizeof(std::uint64_t),
             "copy the chain to the GPU");
    copy_now(position_.as<>(), &start, sizeof start, "set the start of the chain");
    steps_ = 0;
  }

  void run(std::int64_t loads) override {
    launch_chain(memory_.as<std::byte>(), position_.as<std::uint64_t>(), loads, stream_);
    steps_ += static_cast<std::uint64_t>(loads);
  }

  Check verify() override {
    std::uint64_t at = 0;
    check(cudaStreamSynchronize(stream_), "the chain kernel");
    inject_fault_on_gpu(position_.as<>());
    copy_now(&at, position_.as<>(), sizeof at, "read the position in the chain");
    const double off =
        static_cast<double>(at) - static_cast<double>(order_.after(steps_) * kNodeBytes);
    return {"position after a known number of steps", std::abs(off) / kNodeBytes, 0.0};
  }

 private:
  /// A node is a cache line of 128 bytes whose first word is the offset of the next.
  static constexpr std::size_t kNodeBytes = 128;

  const std::uint64_t seed_;
  cudaStream_t stream_;
  ChainOrder order_;
  DeviceMemory memory_;
  DeviceMemory position_;
  std::uint64_t steps_ = 0;
};

class CudaMemory final : public MemorySystem {
 public:
  explicit CudaMemory(const StreamPlace& place) : place_(place) {}

  // The L1 cache is local to a multiprocessor, and the kernels bypass it.
  std::vector<CacheLevel> caches() const override {
    return {{.level = 2, .bytes = static_cast<double>(l2_bytes()), .shared_by = 1}};
  }
  std::vector<MemoryNode> nodes() const override {
    return {{.id = 0, .cores = {0}, .has_memory = true}};
  }
  /// The work of a thread block in each array of a triad.
  double least_bytes(int) const override { return 3.0 * kStreamGrain * sizeof(double); }
  double available_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    return static_cast<double>(free);
  }
  std::string no_huge_pages() const override { return "GPU memory has no choice of page size"; }
  std::string no_nontemporal() const override { return ""; }
  std::string instructions() const override {
    return "16-byte loads and stores, or as memory_way says";
  }
  std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) override {
    return std::make_unique<CudaArrays>(request, place_);
  }
  std::unique_ptr<MemoryChain> chain(const ChainRequest& request) override {
    return std::make_unique<CudaChain>(request, place_.stream);
  }

 private:
  const StreamPlace place_;
};

}  // namespace

std::unique_ptr<MemorySystem> make_cuda_memory(int device, cudaStream_t stream,
                                               StreamTimer& timer) {
  return std::make_unique<CudaMemory>(StreamPlace{stream, &timer, has_bulk_copies(device)});
}

}  // namespace bench
