#include "probes/work_watch.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/order_statistics.h"
#include "devices/facts/process_watch.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

constexpr Seconds kShortest{0.05};  // readings take up to a tenth of a millisecond
constexpr Seconds kTick{0.1};
constexpr Seconds kCommandTick{0.5};  // searching a large tree of processes takes milliseconds
constexpr std::array kReasons = {kStolen, kClockMoved, kThermal, kPowerCapped, kCoreShared};

/// The flags of each sample on any rank.
void agree(Group& group, std::vector<unsigned>& flags) {
  if (group.size() == 1 || flags.empty()) return;
  std::vector<double> bits;
  for (const SampleFlag reason : kReasons)
    for (const unsigned own : flags) bits.push_back((own & reason) != 0 ? 1.0 : 0.0);
  group.max(bits);
  auto bit = bits.begin();
  for (const SampleFlag reason : kReasons)
    for (unsigned& own : flags)
      if (*bit++ > 0.0) own |= reason;
}

/// The value of the worst rank; nothing if no rank knows it.
std::optional<double> worst_of(Group& group, std::optional<double> own) {
  const double worst = largest(group, own.value_or(-1.0));
  return worst < 0.0 ? std::nullopt : std::optional(worst);
}

}  // namespace

unsigned Conditions::over(std::size_t begin, std::size_t end) const {
  double clean = 0.0, all = 0.0;
  unsigned found = kClean;
  for (std::size_t i = begin; i < std::min(end, flags.size()); ++i) {
    all += seconds[i];
    if ((flags[i] & kUnclean) == 0) clean += seconds[i];
    found |= flags[i];
  }
  return all > 0.0 && clean >= 0.5 * all ? found & ~kUnclean : found;
}

Conditions all_of(std::initializer_list<Conditions> parts) {
  Conditions all{{kClean}, {0.0}, {}};
  for (const Conditions& part : parts) {
    all.flags[0] |= part.over_all();
    for (const double seconds : part.seconds) all.seconds[0] += seconds;
    if (part.quality.others_share.value_or(0.0) >= all.quality.others_share.value_or(0.0))
      all.quality = part.quality;
  }
  return all;
}

/// The device's own watch, or that of all threads or children.
class WorkWatch::Threads final : public ThreadWatch {
 public:
  Threads(Device& device, Worker worker)
      : of_device_(device.watch()),
        is_host_(device.kind() == "host"),
        worker_(worker),
        others_(worker == Worker::command ? ProcessWatch::Of::descendants
                                          : ProcessWatch::Of::process) {}

  void start() override { who().start(); }
  Seconds lost() override { return who().lost(); }
  Seconds cpu_time() override {
    return worker_ == Worker::command ? others_.cpu_time() : of_device_.cpu_time();
  }
  std::optional<MachineTime> machine_time() override {
    return is_host_ || !on_host() ? of_device_.machine_time() : others_.machine_time();
  }

 private:
  bool on_host() const { return is_host_ || worker_ != Worker::device; }
  ThreadWatch& who() { return on_host() ? static_cast<ThreadWatch&>(others_) : of_device_; }

  ThreadWatch& of_device_;
  bool is_host_;
  Worker worker_;
  ProcessWatch others_;
};

WorkWatch::WorkWatch(Device& device, Group& group, Worker worker)
    : device_(device),
      group_(group),
      worker_(worker),
      threads_(std::make_unique<Threads>(device, worker)),
      watch_(device, *threads_),
      crowding_(device, *threads_, group),
      before_(HostPressure::now()),
      created_(steady_now()) {}

WorkWatch::~WorkWatch() = default;

unsigned WorkWatch::judge(Seconds length) {
  const unsigned lost = watch_.stolen(length);
  return worker_ == Worker::device ? lost | watch_.slowed(device_.clock()) : lost;
}

void WorkWatch::begin() {
  if (judged_ == flags_.size()) {  // no earlier sample is still to be judged
    watch_.begin();
    begun_ = steady_now();
  }
  sample_ = steady_now();
}

void WorkWatch::end() {
  const Seconds now = steady_now();
  seconds_.push_back((now - sample_).value);
  flags_.push_back(kClean);
  if (now - begun_ < kShortest) return;
  const unsigned found = judge(now - begun_);
  for (; judged_ < flags_.size(); ++judged_) flags_[judged_] = found;
}

void WorkWatch::during(const std::function<void()>& work) {
  Conditions ticks;
  const auto tick = [&](Seconds& begun) {
    const Seconds length = steady_now() - begun;
    ticks.flags.push_back(judge(length));
    ticks.seconds.push_back(length.value);
    watch_.begin();
    begun = steady_now();
  };
  const Seconds start = steady_now();
  Seconds begun = start;
  watch_.begin();
  {
    std::mutex mutex;
    std::condition_variable_any ended;
    const auto pause =
        std::chrono::duration<double>((worker_ == Worker::command ? kCommandTick : kTick).value);
    const std::jthread ticker([&](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      while (!ended.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) tick(begun);
    });
    work();
  }
  tick(begun);
  seconds_.push_back((steady_now() - start).value);
  flags_.push_back(ticks.over_all());
  judged_ = flags_.size();
}

Conditions WorkWatch::finish() {
  const unsigned rest = judged_ < flags_.size() ? judge(steady_now() - begun_) : 0;
  for (; judged_ < flags_.size(); ++judged_) flags_[judged_] = rest;
  Conditions conditions{std::move(flags_), std::move(seconds_), {}};
  agree(group_, conditions.flags);
  group_.max(conditions.seconds);
  const HostPressure after = HostPressure::now();
  Quality& quality = conditions.quality;
  quality.others_share = crowding_.others_share();
  quality.steal_share = worst_of(group_, steal_share(before_, after));
  quality.throttled_s = worst_of(group_, throttled(before_, after));
  quality.wall_s = (steady_now() - created_).value;
  if (!watch_.clocks().empty()) quality.clock_hz = median(watch_.clocks());
  if (quality.others_share.value_or(0.0) > kCrowdedShare)
    for (unsigned& flags : conditions.flags) flags |= kCrowded;
  return conditions;
}

Conditions watched(Device& device, Group& group, Worker worker, const std::function<void()>& work) {
  WorkWatch watch(device, group, worker);
  watch.during(work);
  return watch.finish();
}

}  // namespace bench
