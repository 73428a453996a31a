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

#include "training/engine/lane.h"
#include "training/workloads/workload.h"

namespace bench {

/// The input of a query, ready in memory as in MLPerf's LoadGen.
struct ImageSample {
  std::vector<float> image = {};         // as the model's rows; or noise, as rows of patches
  std::vector<std::int32_t> words = {};  // of a caption
};

using ModelParameters = std::map<std::string, std::vector<float>>;  // by name

class ImageModel {
 public:
  /// Without weights. `workload` is image, detect or flow, and must outlive it; `steps`: from noise
  /// to an image, of flow.
  ImageModel(const training::Workload& workload, std::int64_t steps, Dtype dtype);

  const training::Workload& workload() const { return workload_; }
  std::int64_t steps() const { return steps_; }
  /// FLOPs of the GEMMs of one answer.
  double flops() const;
  /// Of all weights; of a lane that takes so many samples at once; and of the inputs of a sample.
  std::int64_t bytes() const;
  std::int64_t lane_bytes(std::int64_t samples);
  std::int64_t input_bytes() const;

  /// Random ones, also where a training starts with zeros or ones: behind a matrix or a gain of
  /// zeros no answer would depend on what was computed.
  void draw_weights(std::uint64_t seed);
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
  std::unique_ptr<training::Weights> weights_ = {};
};

/// What one thread answers with.
class ImageLane {
 public:
  virtual ~ImageLane() = default;

  /// Evaluation sample `number` of the workload. Of a lane for one sample.
  virtual ImageSample read(std::uint64_t number) const;
  /// Answers so many samples as the lane takes at once.
  virtual void answer(std::span<const ImageSample* const> samples) = 0;
  /// Of all bits of answer i, and of what the last pass computed for it.
  virtual std::uint64_t hash(std::int64_t i) const = 0;
  /// Of flow, answer i: rows of patches. Of others nothing.
  virtual std::span<const double> image(std::int64_t /*i*/) const { return {}; }

  /// What the last pass computed, row by row: logits, predictions, or the last step's velocity.
  std::vector<double> output() const;
  const training::Lane& lane() const { return lane_; }
  const ImageModel::Pass& pass() const { return pass_; }

 protected:
  ImageLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels);

  void run() { lane_.run(0, pass_.actions, {}); }
  void put_image(const ImageSample& sample, std::int64_t i);
  /// Of sample i.
  training::View result(std::int64_t i) const;

  const training::Workload& workload_;
  const ImageModel::Pass& pass_;
  training::Lane lane_;
  std::int64_t samples_;
};

/// `model` must have weights, and outlive it.
std::unique_ptr<ImageLane> make_image_lane(ImageModel& model, std::int64_t samples,
                                           const training::KernelFactory& kernels);

}  // namespace bench
