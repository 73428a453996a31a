#include "probes/data/loader/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>

#include "core/text.h"
#include "devices/host_clock.h"
#include "probes/data/formats/page_cache.h"
#include "probes/data/loader/placement.h"
#include "probes/storage/file_system_facts.h"

namespace bench::data {
namespace {

constexpr double kMostResident = 0.05;  // of files that count as cold
constexpr std::size_t kCopied = std::size_t{32} << 20;
constexpr int kCopies = 8;
constexpr int kTransfers = 20;

/// Runs work(thread) on so many threads; rethrows an exception of one of them.
template <class Work>
void on_threads(int count, const std::vector<int>& cpus, Work work) {
  std::exception_ptr error;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      try {
        run_on(cpus);
        work(t);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace

double drop_from_memory(const Pipeline& pipeline) {
  const auto files = pipeline.files();
  pipeline.release_pages();
  evict(files);
  return residence(files).share();
}

bool fits_in_memory(const Pipeline& pipeline) {
  double bytes = 0.0;
  for (const auto& path : pipeline.files())
    bytes += static_cast<double>(std::filesystem::file_size(path));
  return bytes < storage::total_memory().value_or(0.0) / 4.0;
}

void read_all(const Pipeline& pipeline) {
  const auto worker = pipeline.worker();
  const std::uint64_t all = pipeline.shape().samples;
  std::vector<std::uint64_t> samples;
  Effort effort;
  StageClock clock;
  clock.begin(effort);
  for (std::uint64_t first = 0; first < all; first += samples.size()) {
    samples.resize(std::min<std::uint64_t>(1024, all - first));
    std::iota(samples.begin(), samples.end(), first);
    worker->fetch(0, samples, clock);
  }
}

ColdRead read_cold(const Pipeline& pipeline, const LoaderOptions& options, Seconds most_time) {
  ColdRead read;
  const auto files = pipeline.files();
  if (files.empty()) {
    read.reason = "no data is read";
    return read;
  }
  read.resident_share = drop_from_memory(pipeline);
  if (read.resident_share > kMostResident) {
    read.reason = fmt::format("{} of the data set stayed in memory after dropping it",
                              format(read.resident_share, Unit::ratio));
    return read;
  }
  const int threads = std::max(options.num_workers, 1);
  const SampleOrder order(pipeline.shape(), options.shuffle, options.seed, 0);
  const std::uint64_t batches = pipeline.shape().samples / options.batch_size;
  std::atomic<std::uint64_t> next{0};
  std::vector<Effort> efforts(static_cast<std::size_t>(threads));
  const auto disk = storage::file_system_of(files.front());
  const auto before = storage::traffic_of(disk);
  const double begun = steady_now().value;
  on_threads(threads, options.worker_cpus, [&](int t) {
    const auto worker = pipeline.worker();
    StageClock clock;
    clock.begin(efforts[static_cast<std::size_t>(t)]);
    std::vector<std::uint64_t> samples(options.batch_size);
    for (std::uint64_t b; (b = next++) < batches;) {
      if (steady_now().value - begun > most_time.value) return;
      order.fill(b * options.batch_size, samples);
      worker->fetch(0, samples, clock);
    }
  });
  const double seconds = steady_now().value - begun;
  const auto after = storage::traffic_of(disk);
  Effort all;
  for (const Effort& effort : efforts) all += effort;
  read.bytes = all.bytes_read;
  read.bytes_per_second = all.bytes_read / seconds;
  read.samples_per_second = all.samples / seconds;
  if (before && after) read.device_bytes = after->read - before->read;
  return read;
}

std::vector<double> transfer_times(Uploads& uploads, std::span<const std::byte> batch) {
  std::vector<double> seconds;
  for (int i = 0; i < kTransfers; ++i) {
    const double begun = steady_now().value;
    uploads.start(batch);
    uploads.finish();
    seconds.push_back(steady_now().value - begun);
  }
  return seconds;
}

double copy_rate(int threads, const std::vector<int>& cpus) {
  std::vector<double> rates(static_cast<std::size_t>(threads));
  on_threads(threads, cpus, [&](int t) {
    std::vector<std::byte> from(kCopied, std::byte{1}), to(kCopied, std::byte{2});
    double& fastest = rates[static_cast<std::size_t>(t)];  // others can only slow it down
    for (int i = 0; i < kCopies; ++i) {
      const double begun = steady_now().value;
      std::memcpy(to.data(), from.data(), kCopied);
      asm volatile("" : : "r"(to.data()) : "memory");  // the copy must happen
      const double seconds = steady_now().value - begun;
      fastest = std::max(fastest, 2.0 * static_cast<double>(kCopied) / seconds);
    }
  });
  double sum = 0.0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace bench::data
