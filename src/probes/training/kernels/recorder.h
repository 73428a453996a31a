// Records a device's work and replays it as a whole (a CUDA graph).
#pragma once

#include <functional>

namespace bench::training {

/// Identifies recorded work: its actions, and all its arguments that are not tensors.
struct RecordingKey {
  int first = 0, last = 0;
  bool first_micro_batch = true;
  double gradient_scale = 0.0;
  /// The optimizer's work, which is no action; the first update is another than all later ones.
  static RecordingKey of_update(bool first) { return {-1, first ? 0 : -1}; }
  bool operator==(const RecordingKey&) const = default;
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Runs `work`: directly the first time, later from a recording. It must contain only kernel calls
  /// on tensors at the same addresses.
  virtual void run(const RecordingKey& key, const std::function<void()>& work) = 0;
};

}  // namespace bench::training
