// The conditions of work that a procedure times itself: judged by the rule of State::measure
// (probes/sample_watch.h), sample by sample, and for crowding as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/record.h"
#include "devices/crowding.h"
#include "devices/device.h"
#include "devices/facts/host_pressure.h"
#include "devices/group.h"
#include "probes/sample_watch.h"

namespace bench {

/// Under which conditions values were measured.
struct Conditions {
  std::vector<unsigned> flags = {};  // of each sample
  std::vector<double> seconds = {};  // its length
  Quality quality = {};
  std::string reason = {};  // why values are not clean, if flags and quality do not show it

  /// Flags of a value over the samples `begin` to `end`: kClean if at least half of their time was.
  unsigned over(std::size_t begin, std::size_t end) const;
  unsigned over_all() const { return over(0, flags.size()); }
};

/// Of a value derived from several: clean if all of them were.
Conditions all_of(std::initializer_list<Conditions> parts);

enum class Worker {
  device,   // the device under test; on the host all threads of this process
  threads,  // threads of this process, whatever the device; not its clock, which idle threads lower
  command   // child processes
};

class WorkWatch {
 public:
  /// Create one on every rank.
  WorkWatch(Device& device, Group& group, Worker worker);
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  /// A sample between begin() and end(), by threads that outlive it. Samples below 50 ms are
  /// judged together with the next ones.
  void begin();
  void end();
  /// Judges `work` as one sample, while it runs: its threads may end with it.
  void during(const std::function<void()>& work);

  /// The same on all ranks, by the worst of them; every rank had as many samples.
  Conditions finish();

 private:
  class Threads;
  unsigned judge(Seconds length);

  Device& device_;
  Group& group_;
  Worker worker_;
  std::unique_ptr<Threads> threads_;
  SampleWatch watch_;
  Crowding crowding_;
  HostPressure before_;
  Seconds created_;
  Seconds begun_ = {};
  Seconds sample_ = {};     // begin of the sample
  std::size_t judged_ = 0;  // samples
  std::vector<unsigned> flags_ = {};
  std::vector<double> seconds_ = {};
};

/// Does the work, and judges it as one sample.
Conditions watched(Device& device, Group& group, Worker worker, const std::function<void()>& work);

}  // namespace bench
