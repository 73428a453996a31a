// A model that is asked about images: for the class of one (image), the objects in one (detect), or
// an image for a caption (flow). Its answers are those of the workload's own forward pass, without
// the loss.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probes/image_inference/image_samples.h"
#include "training/detection/box.h"
#include "training/engine/lane.h"
#include "training/workloads/workload.h"

namespace bench {

/// "image", "detect", "flow": the workloads that answer.
bool answers_about_images(const std::string& workload);

using ModelParameters = std::map<std::string, std::vector<float>>;  // by name

class ImageModel {
 public:
  /// With random weights, also where a training starts with zeros or ones. `workload` must outlive
  /// it; `steps`: from noise to an image, of flow.
  ImageModel(const training::Workload& workload, std::int64_t steps, Dtype dtype,
             std::uint64_t seed);

  const training::Workload& workload() const { return workload_; }
  Dtype dtype() const { return dtype_; }
  std::int64_t steps() const { return steps_; }
  /// FLOPs of the GEMMs of one answer.
  double flops() const;
  /// Of all weights.
  std::int64_t bytes() const;
  /// Of a lane that takes so many samples at once, and of the inputs of one sample.
  std::int64_t lane_bytes(std::int64_t samples);
  std::int64_t input_bytes() const;

  ModelParameters parameters() const;
  void set_parameters(const ModelParameters& values);

  /// The model for so many samples at once, up to what it answers.
  struct Pass {
    training::Model model;
    training::Plan plan;
    training::Var result;
    int actions = 0;  // of the plan, until there is the result
  };
  /// Made once; not thread-safe.
  const Pass& pass(std::int64_t samples);
  const training::Weights& weights() const { return *weights_; }

 private:
  const training::Workload& workload_;
  std::int64_t steps_;
  Dtype dtype_;
  std::map<std::int64_t, std::unique_ptr<Pass>> passes_ = {};
  std::unique_ptr<training::Weights> weights_;
};

/// What one thread answers with.
class ImageLane {
 public:
  virtual ~ImageLane() = default;
  /// Answers so many samples as the lane takes at once.
  virtual void answer(std::span<const ImageSample* const> samples) = 0;
  /// Numbers that show any difference of answer i: logits of all classes; boxes with class and
  /// score, then the sum and the sum of squares of all predictions; or the image's elements, as
  /// rows of patches.
  virtual std::vector<double> numbers(std::int64_t i) const = 0;
  /// What the last pass computed, row by row: logits, predictions, or the last step's velocity.
  std::vector<double> output() const { return output(0, pass_.result.shape().rows()); }

  const training::Lane& lane() const { return lane_; }
  const ImageModel::Pass& pass() const { return pass_; }

 protected:
  ImageLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels);
  void run() { lane_.run(0, pass_.actions, {}); }
  std::vector<double> output(std::int64_t first_row, std::int64_t rows) const;

  const ImageModel::Pass& pass_;
  training::Lane lane_;
  std::int64_t samples_;
};

/// `model` must outlive it.
std::unique_ptr<ImageLane> make_image_lane(ImageModel& model, std::int64_t samples,
                                           const training::KernelFactory& kernels);

}  // namespace bench
