// A device that can record what it is asked to do and do it again as one piece (a CUDA graph).
#pragma once

#include <functional>

namespace bench::training {

/// Which piece of work: its actions, and everything of it that is no tensor.
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
  /// Does `work`: the first time as it stands, later as a recording. What is not a kernel call on
  /// tensors at the same addresses must not be in it.
  virtual void run(const RecordingKey& key, const std::function<void()>& work) = 0;
};

}  // namespace bench::training
