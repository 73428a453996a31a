// Capabilities are created on first use: a null job must not pay for starting oneDNN.
#include "devices/host/host_device.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/order_statistics.h"
#include "core/system_files.h"
#include "devices/gemm.h"
#include "devices/host/clock.h"
#include "devices/host/core_share.h"
#include "devices/host/host_cpus.h"
#include "devices/host/host_gemm.h"
#include "devices/host/kernels_compute.h"
#include "devices/host/memory_survey.h"
#include "devices/host/team.h"
#include "devices/host/thread_watch.h"
#include "devices/host_clock.h"
#include "devices/instructions.h"
#include "devices/memory.h"
#include "devices/topology.h"

namespace bench {
namespace {

/// Data of one thread, aligned, on separate cache lines.
struct Lane {
  std::vector<std::byte> memory;
  std::byte* a = nullptr;
  std::byte* b = nullptr;
  std::byte* out = nullptr;
  double worst = 0.0;  // deviation of any piece of the last run; may be NaN
};

Lane make_lane(const ComputeKernel& kernel, const Factors& factors) {
  constexpr std::size_t kAlign = 128;
  const std::size_t register_bytes = (kernel.bytes + kAlign - 1) / kAlign * kAlign;
  const std::size_t out_bytes = kernel.bytes * static_cast<std::size_t>(kernel.sums);
  Lane lane;
  lane.memory.resize(2 * register_bytes + out_bytes + 2 * kAlign);
  const auto address = reinterpret_cast<std::uintptr_t>(lane.memory.data());
  lane.a = lane.memory.data() + (kAlign - address % kAlign) % kAlign;
  lane.b = lane.a + register_bytes;
  lane.out = lane.b + register_bytes;
  std::ranges::copy(factors.a, lane.a);
  std::ranges::copy(factors.b, lane.b);
  return lane;
}

constexpr std::int64_t kIterationsPerCall = 1 << 13;
constexpr std::int64_t kStepsPerCall = 1 << 15;

class StreamRun final : public InstructionRun {
 public:
  StreamRun(const ComputeKernel& kernel, std::vector<int> cores, HostThreadWatch& watch)
      : kernel_(kernel), factors_(make_factors(kernel)), team_(std::move(cores), watch) {
    for (int thread = 0; thread < team_.size(); ++thread)
      lanes_.push_back(make_lane(kernel_, factors_));
  }

  void run(std::int64_t calls) override {
    team_.run([&](int thread) { work(lanes_[static_cast<std::size_t>(thread)], calls); });
  }

  double per_call() const override {
    return kernel_.ops_per_iteration() * static_cast<double>(kIterationsPerCall);
  }

  Check verify() override {
    double worst = 0.0;
    for (const Lane& lane : lanes_) worst = worse_deviation(worst, lane.worst);
    return {"exact sums in the registers", worst, 0.0};
  }

  std::optional<Hertz> clock() override { return vector_clock(kernel_.stream.isa); }
  std::optional<double> core_share() override {
    if (!cores_) cores_.emplace(team_.size(), kernel_.stream.isa);
    return cores_->smallest([this](const auto& work) { team_.run(work); });
  }

 private:
  /// In pieces short enough for exact sums; checking a piece takes a millionth of its time.
  void work(Lane& lane, std::int64_t calls) {
    const std::size_t out_bytes = kernel_.bytes * static_cast<std::size_t>(kernel_.sums);
    lane.worst = 0.0;
    for (std::int64_t left = calls * kIterationsPerCall; left > 0;) {
      const std::int64_t piece = std::min(left, factors_.most_iterations);
      kernel_.loop(piece, lane.a, lane.b, lane.out);
      lane.worst =
          worse_deviation(lane.worst, deviation(kernel_, factors_, piece, {lane.out, out_bytes}));
      left -= piece;
    }
  }

  const ComputeKernel kernel_;
  const Factors factors_;
  std::vector<Lane> lanes_;
  Team team_;
  std::optional<CoreShare> cores_ = {};
};

/// Windows of about 30 us, each followed by a clock reading: long enough to amortise overhead, and
/// the core stays at the clock of such code. Disturbances slow a window, so high quantiles are
/// compared.
std::optional<double> measured_per_cycle(const ComputeKernel& kernel) {
  constexpr double kWindowCycles = 100000;
  constexpr int kSettle = 50, kWindows = 101, kWalks = 1;
  const Factors factors = make_factors(kernel);
  const Lane lane = make_lane(kernel, factors);
  const auto iterations =
      static_cast<std::int64_t>(kWindowCycles * kernel.stream.most_per_cycle / kernel.sums);
  std::vector<double> rates, clocks;
  for (int i = -kSettle; i < kWindows; ++i) {
    const double begin = steady_now().value;
    kernel.loop(iterations, lane.a, lane.b, lane.out);
    const double elapsed = steady_now().value - begin;
    const auto clock = chain_clock(kernel.stream.isa, kWalks);
    if (!clock) return {};
    if (i < 0) continue;
    rates.push_back(kernel.ops_per_iteration() * static_cast<double>(iterations) / elapsed);
    clocks.push_back(clock->value);
  }
  return quantile(rates, 0.95) / quantile(clocks, 0.95);
}

class ChainRun final : public InstructionRun {
 public:
  ChainRun(const ClockWalk& chain, std::vector<int> cores, HostThreadWatch& watch)
      : chain_(chain), ends_(cores.size()), team_(std::move(cores), watch) {}

  void run(std::int64_t calls) override {
    steps_ = calls * kStepsPerCall;
    team_.run(
        [&](int thread) { ends_[static_cast<std::size_t>(thread)].value = chain_.walk(steps_); });
  }

  double per_call() const override {
    return chain_.chain.cycles * static_cast<double>(kStepsPerCall);
  }

  Check verify() override {
    const auto wrong = std::ranges::count_if(
        ends_, [&](const End& end) { return end.value != chain_.expected(steps_); });
    return {"end of the chain", static_cast<double>(wrong), 0.0};
  }

  std::optional<Hertz> clock() override { return core_clock(); }

 private:
  struct alignas(128) End {
    std::uint64_t value = 0;
  };
  const ClockWalk chain_;
  std::int64_t steps_ = 0;
  std::vector<End> ends_;
  Team team_;
};

class HostInstructions final : public Instructions {
 public:
  HostInstructions(const HostCpus& cpus, HostThreadWatch& watch)
      : cpus_(cpus), watch_(watch), kernels_(compute_kernels()) {
    for (const ComputeKernel& kernel : kernels_) streams_.push_back(kernel.stream);
    for (const ClockWalk& chain : host_chains()) chains_.push_back(chain.chain);
  }

  const std::vector<InstructionStream>& streams() const override { return streams_; }
  const std::vector<ClockChain>& chains() const override { return chains_; }

  std::unique_ptr<InstructionRun> prepare_stream(std::size_t stream, int threads) override {
    return std::make_unique<StreamRun>(kernels_.at(stream), cpus_.first(threads), watch_);
  }
  std::optional<double> operations_per_cycle(std::size_t stream) override {
    const Team here(cpus_.first(1), watch_);  // pins this thread
    return measured_per_cycle(kernels_.at(stream));
  }
  std::unique_ptr<InstructionRun> prepare_chain(std::size_t chain, int threads) override {
    return std::make_unique<ChainRun>(host_chains().at(chain), cpus_.first(threads), watch_);
  }

  std::optional<Hertz> highest_clock() const override {
    const auto kilohertz =
        SystemFiles().number("sys/devices/system/cpu/cpu" + std::to_string(cpus_.all().front()) +
                             "/cpufreq/cpuinfo_max_freq");
    if (!kilohertz || *kilohertz <= 0) return {};
    return Hertz{static_cast<double>(*kilohertz) * 1e3};
  }

 private:
  const HostCpus& cpus_;
  HostThreadWatch& watch_;
  std::vector<ComputeKernel> kernels_;
  std::vector<InstructionStream> streams_;
  std::vector<ClockChain> chains_;
};

class HostDevice final : public Device {
 public:
  HostDevice(MakeTrainingKernels training_kernels, MakeTopology topology)
      : cpus_(HostCpus::allowed()),
        make_training_kernels_(std::move(training_kernels)),
        make_topology_(std::move(topology)) {}

  std::string kind() const override { return "host"; }
  std::string id() const override { return "cpu"; }

  Seconds now() override { return steady_now(); }

  std::optional<Hertz> clock() override { return core_clock(); }
  ThreadWatch& watch() override { return watch_; }
  int cores() const override { return cpus_.count(); }

  Instructions* instructions() override {
    if (!instructions_) instructions_ = std::make_unique<HostInstructions>(cpus_, watch_);
    return instructions_.get();
  }
  MemorySystem* memory() override {
    if (!memory_) memory_ = make_host_memory(cpus_, watch_);
    return memory_.get();
  }
  Gemm* gemm() override {
    if (!gemm_) gemm_ = make_host_gemm(cpus_, watch_);
    return gemm_.get();
  }
  Topology* topology() override {
    if (!topology_ && make_topology_) topology_ = make_topology_();
    return topology_.get();
  }
  TrainingKernels* training_kernels() override {
    if (!training_kernels_ && make_training_kernels_) training_kernels_ = make_training_kernels_();
    return training_kernels_.get();
  }

 private:
  HostCpus cpus_;
  HostThreadWatch watch_;
  MakeTrainingKernels make_training_kernels_;
  MakeTopology make_topology_;
  std::unique_ptr<Instructions> instructions_;
  std::unique_ptr<MemorySystem> memory_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Topology> topology_;
  std::shared_ptr<TrainingKernels> training_kernels_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(MakeTrainingKernels training_kernels,
                                         MakeTopology topology) {
  return std::make_unique<HostDevice>(std::move(training_kernels), std::move(topology));
}

}  // namespace bench
