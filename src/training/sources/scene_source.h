// Images with labelled objects, by number: a sample is a function of (split, index) alone, so ranks
// and threads may share one source and read in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "training/detection/box.h"
#include "training/sources/random.h"

namespace bench::training {

struct SceneShape {
  int side = 64;     // pixels of rows and columns
  int channels = 3;  // of a pixel
  int classes = 3;

  std::size_t elements() const {
    return static_cast<std::size_t>(side) * static_cast<std::size_t>(side) *
           static_cast<std::size_t>(channels);
  }
  bool operator==(const SceneShape&) const = default;
};

/// One sample; pixels row by row, channels innermost.
struct Scene {
  std::vector<float> image = {};
  std::vector<Truth> truths = {};  // as labelled
  std::vector<Box> boxes = {};     // where the objects are: the best answer to these labels
};

class SceneSource {
 public:
  SceneSource() = default;
  SceneSource(const SceneSource&) = delete;
  SceneSource& operator=(const SceneSource&) = delete;
  virtual ~SceneSource() = default;

  virtual const SceneShape& shape() const = 0;
  /// Number of samples; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  virtual bool has_oracle() const = 0;
  virtual void read(Split split, std::uint64_t index, Scene& scene) const = 0;
};

}  // namespace bench::training
