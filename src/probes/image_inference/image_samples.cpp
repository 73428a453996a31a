#include "probes/image_inference/image_samples.h"

#include "training/engine/lane.h"
#include "training/sources/image_source.h"

namespace bench {
namespace {

using training::View;

/// Noise e from x_t and the velocity e - x: x_t + (1 - t) (e - x).
void put_noise(const View& noisy, const View& velocity, double time, std::vector<float>& noise) {
  for (std::int64_t i = 0; i < noisy.elements(); ++i)
    noise.push_back(noisy.as<float>()[i] +
                    static_cast<float>(1.0 - time) * velocity.as<float>()[i]);
}

}  // namespace

std::vector<ImageSample> read_image_samples(const training::Workload& workload, std::int64_t count,
                                            const training::KernelFactory& kernels) {
  const training::Model model = workload.model(1, Dtype::f32, false);
  const training::Plan plan = training::make_plan(*model.graph, false);
  const training::Weights weights(plan, 1);
  const training::Lane lane(plan, weights, kernels);
  std::vector<ImageSample> samples(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    ImageSample& sample = samples[static_cast<std::size_t>(i)];
    workload.read(training::Split::evaluation, static_cast<std::uint64_t>(i), model, lane);
    if (workload.name() == "flow") {
      const View words = lane.view(model.inputs[0]);
      sample.words.assign(words.as<std::int32_t>(), words.as<std::int32_t>() + words.elements());
      const double time = static_cast<double>(i % training::kTimes) / training::kTimes;
      put_noise(lane.view(model.inputs[1]), lane.view(model.inputs[3]), time, sample.image);
    } else {
      const View image = lane.view(model.inputs[0]);
      sample.image.assign(image.as<float>(), image.as<float>() + image.elements());
    }
  }
  return samples;
}

}  // namespace bench
