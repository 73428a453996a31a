// Cores of four gigahertz that run streams and chains at the rates the test says, on a clock turned
// by hand; and a job of a probe that measures them.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/instructions.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "tests/support/fake_device.h"

namespace bench {

inline constexpr double kFakeClock = 4e9;

class FakeInstructions final : public Instructions {
 public:
  explicit FakeInstructions(FakeDevice& device) : device_(device) {}

  const std::vector<InstructionStream>& streams() const override { return streams_; }
  const std::vector<ClockChain>& chains() const override { return chains_; }
  std::unique_ptr<InstructionRun> prepare_stream(std::size_t stream, int) override {
    return std::make_unique<Run>(*this, 1e5 * streams_.at(stream).ops, 1e5 / rates.at(stream));
  }
  std::optional<double> operations_per_cycle(std::size_t stream) override {
    return reported_rate.value_or(rates.at(stream)) * streams_.at(stream).ops;
  }
  std::unique_ptr<InstructionRun> prepare_chain(std::size_t chain, int) override {
    return std::make_unique<Run>(*this, 1e5, 1e5 / chain_speed.at(chain), chain == 0);
  }
  std::optional<Hertz> highest_clock() const override { return highest; }

  std::vector<InstructionStream> streams_;
  std::vector<double> rates;            // instructions per cycle
  std::optional<double> reported_rate;  // by operations_per_cycle(), instead of the real one
  std::vector<ClockChain> chains_;
  std::vector<double> chain_speed;  // 1: each step takes the cycles it should
  std::optional<Hertz> highest;
  bool wrong_sums = false;
  int slowed_walks = 0;  // of the first chain: something else uses the core meanwhile

 private:
  class Run final : public InstructionRun {
   public:
    Run(FakeInstructions& cores, double work, double cycles, bool first_chain = false)
        : cores_(cores), work_(work), cycles_(cycles), first_chain_(first_chain) {}
    void run(std::int64_t calls) override {
      const bool slowed = first_chain_ && cores_.slowed_walks > 0;
      if (slowed) --cores_.slowed_walks;
      cores_.device_.time +=
          Seconds{cycles_ / kFakeClock} * static_cast<double>(calls) * (slowed ? 1.05 : 1.0);
    }
    double per_call() const override { return work_; }
    Check verify() override { return {"fake sums", cores_.wrong_sums ? 1.0 : 0.0, 0.0}; }
    std::optional<Hertz> clock() override { return Hertz{kFakeClock}; }

   private:
    FakeInstructions& cores_;
    double work_;
    double cycles_;
    bool first_chain_;
  };

  FakeDevice& device_;
};

/// Runs one probe on fake cores.
struct FakeCores {
  Job job;
  FakeDevice device;
  FakeInstructions fake{device};
  std::unique_ptr<Group> group = make_self_group();
  CollectedRecords sink;
  std::string probe_name;

  FakeCores(const std::string& probe, Json defaults, const Json& params) : probe_name(probe) {
    job.id = "01.test.0";
    job.probe = probe;
    job.params = std::move(defaults);
    job.params.own().update(params);
    device.fake_instructions = &fake;
  }

  Outcome run() {
    const Probe& probe = find_probe(probe_name);
    State state(job, probe, device, *group, sink);
    probe.run(state);
    return state.finish();
  }

  /// The series of `metric` whose parameters contain these.
  Samples find(const std::string& metric, const Json& params) const {
    for (const Samples& samples : sink.samples()) {
      bool same = samples.metric == metric;
      for (const auto& [key, value] : params.items())
        same = same && samples.params.contains(key) && samples.params.at(key) == value;
      if (same) return samples;
    }
    throw std::runtime_error("no series " + metric + " " + params.dump());
  }
};

}  // namespace bench
