#include "probes/image_inference/image_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elements.h"
#include "training/detection/anchors.h"
#include "training/engine/content_hash.h"
#include "training/models/detect.h"
#include "training/models/flow.h"
#include "training/sources/image_source.h"
#include "training/workloads/detect_evaluation.h"

namespace bench {
namespace {

using training::rows_of;
using training::View;

/// In the type of the view, f32 or f64.
template <class Value>
void put(std::span<const Value> values, const View& to) {
  if (to.dtype == Dtype::f64)
    std::ranges::copy(values, to.as<double>());
  else
    std::ranges::transform(values, to.as<float>(),
                           [](Value value) { return static_cast<float>(value); });
}

void take(const View& from, std::span<double> values) {
  decode(from.as<std::byte>(), from.dtype, false, values);
}

/// Of rows of `samples` samples, those of sample i.
View part_of(const View& whole, std::int64_t i, std::int64_t samples) {
  const std::int64_t rows = whole.rows / samples;
  return rows_of(whole, i * rows, rows);
}

std::uint64_t hash_of(std::span<const double> numbers) {
  return training::content_hash(std::as_bytes(numbers));
}

std::uint64_t hash_of(const View& view) {
  return training::content_hash(
      {view.as<std::byte>(), static_cast<std::size_t>(view.elements()) * size_of(view.dtype)});
}

class ClassifierLane final : public ImageLane {
 public:
  ClassifierLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels)
      : ImageLane(model, samples, kernels),
        logits_(static_cast<std::size_t>(pass_.result.shape().columns())),
        classes_(static_cast<std::size_t>(samples)) {}

  void answer(std::span<const ImageSample* const> samples) override {
    for (std::size_t i = 0; i < samples.size(); ++i)
      put_image(*samples[i], static_cast<std::int64_t>(i));
    run();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      take(result(static_cast<std::int64_t>(i)), logits_);
      classes_[i] = static_cast<double>(std::ranges::max_element(logits_) - logits_.begin());
    }
  }
  std::uint64_t hash(std::int64_t i) const override {
    return random_bits(hash_of(result(i)),
                       hash_of(std::span(classes_).subspan(static_cast<std::size_t>(i), 1)));
  }

 private:
  std::vector<double> logits_, classes_;
};

class DetectorLane final : public ImageLane {
 public:
  DetectorLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels)
      : ImageLane(model, samples, kernels),
        anchors_(
            training::make_anchors(training::detect_preset(model.workload().preset()).anchors())),
        found_(static_cast<std::size_t>(samples)) {}

  void answer(std::span<const ImageSample* const> samples) override {
    for (std::size_t i = 0; i < samples.size(); ++i)
      put_image(*samples[i], static_cast<std::int64_t>(i));
    run();
    for (std::size_t i = 0; i < samples.size(); ++i)
      found_[i] = training::read_detections(result(static_cast<std::int64_t>(i)), 0, anchors_);
  }
  std::uint64_t hash(std::int64_t i) const override {
    std::vector<double> numbers;
    for (const training::Detection& one : found_[static_cast<std::size_t>(i)])
      for (const double number : {one.box.left, one.box.top, one.box.right, one.box.bottom,
                                  static_cast<double>(one.label), one.score})
        numbers.push_back(number);
    return random_bits(hash_of(result(i)), hash_of(numbers));
  }

 private:
  std::vector<training::Box> anchors_;
  std::vector<std::vector<training::Detection>> found_;
};

/// Euler's steps from noise at time 1 to an image at time 0.
class GeneratorLane final : public ImageLane {
 public:
  GeneratorLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels)
      : ImageLane(model, samples, kernels),
        steps_(model.steps()),
        images_(static_cast<std::size_t>(pass_.result.shape().elements())),
        velocity_(images_.size()) {
    const training::FlowShape shape = training::flow_preset(model.workload().preset());
    for (std::int64_t step = 0; step < steps_; ++step) {
      times_.emplace_back(static_cast<std::size_t>(shape.times));
      training::describe_time(1.0 - static_cast<double>(step) / static_cast<double>(steps_),
                              shape.time_scale, shape.times, times_.back().data());
    }
  }

  /// The noise e follows from x_t and the velocity e - x: x_t + (1 - t) (e - x).
  ImageSample read(std::uint64_t number) const override {
    workload_.read(training::Split::evaluation, number, pass_.model, lane_);
    const View words = lane_.view(pass_.model.inputs[kWords]);
    const View noisy = lane_.view(pass_.model.inputs[kPatches]);
    const View velocity = lane_.view(pass_.model.inputs[kVelocities]);
    const auto left =
        static_cast<float>(1.0 - static_cast<double>(number % training::kTimes) / training::kTimes);
    ImageSample sample;
    sample.words.assign(words.as<std::int32_t>(), words.as<std::int32_t>() + words.elements());
    for (std::int64_t i = 0; i < noisy.elements(); ++i)
      sample.image.push_back(noisy.as<float>()[i] + left * velocity.as<float>()[i]);
    return sample;
  }

  void answer(std::span<const ImageSample* const> samples) override {
    auto image = images_.begin();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const View words = lane_.view(pass_.model.inputs[kWords]);
      std::ranges::copy(samples[i]->words,
                        part_of(words, static_cast<std::int64_t>(i), samples_).as<std::int32_t>());
      image = std::ranges::copy(samples[i]->image, image).out;
    }
    const View times = lane_.view(pass_.model.inputs[kTimesOf]);
    for (const std::vector<double>& time : times_) {
      for (std::int64_t i = 0; i < times.rows; ++i) put(std::span(time), rows_of(times, i, 1));
      put(std::span<const double>(images_), lane_.view(pass_.model.inputs[kPatches]));
      run();
      take(lane_.view(pass_.result), velocity_);
      for (std::size_t i = 0; i < images_.size(); ++i)
        images_[i] -= velocity_[i] / static_cast<double>(steps_);
    }
  }
  std::uint64_t hash(std::int64_t i) const override {
    return random_bits(hash_of(result(i)), hash_of(image(i)));
  }
  std::span<const double> image(std::int64_t i) const override {
    const std::size_t each = images_.size() / static_cast<std::size_t>(samples_);
    return std::span(images_).subspan(static_cast<std::size_t>(i) * each, each);
  }

 private:
  enum Input : std::size_t { kWords, kPatches, kTimesOf, kVelocities };  // of the workload's model

  std::int64_t steps_;
  std::vector<std::vector<double>> times_ = {};
  std::vector<double> images_, velocity_;
};

void scatter_constants(const training::Tensor& tensor, std::uint64_t seed, const View& values) {
  const training::Initial& initial = tensor.parameter.initial;
  if (initial.kind != training::Initial::Kind::constant) return;
  const double deviation =
      values.rows == 1 ? 0.1 : 0.5 / std::sqrt(static_cast<double>(values.rows));
  training::fill_initial(training::Initial::normal(deviation), seed, tensor.name, 0, values);
  for (std::int64_t i = 0; i < values.elements(); ++i)
    if (values.dtype == Dtype::f64)
      values.as<double>()[i] += initial.value;
    else
      values.as<float>()[i] += static_cast<float>(initial.value);
}

int actions_until(const training::Plan& plan, training::Var result) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    const auto node = static_cast<std::size_t>(plan.actions[i].node);
    if (plan.graph->nodes()[node].output == result.id) return static_cast<int>(i) + 1;
  }
  training::require(false, "image model", "no action computes " + result.name());
  return 0;
}

}  // namespace

ImageModel::ImageModel(const training::Workload& workload, std::int64_t steps, Dtype dtype)
    : workload_(workload), steps_(workload.name() == "flow" ? steps : 1), dtype_(dtype) {
  pass(1);
}

double ImageModel::flops() const {
  return static_cast<double>(steps_) * workload_.flops_per_sample() / 3.0;
}

std::int64_t ImageModel::bytes() const {
  const training::Plan& plan = passes_.at(1)->plan;
  return plan.bytes(training::Arena::parameters) + plan.bytes(training::Arena::constants);
}

std::int64_t ImageModel::lane_bytes(std::int64_t samples) {
  const training::Plan& plan = pass(samples).plan;
  return plan.bytes(training::Arena::inputs) + plan.bytes(training::Arena::transient);
}

std::int64_t ImageModel::input_bytes() const {
  return passes_.at(1)->plan.bytes(training::Arena::inputs);
}

void ImageModel::draw_weights(std::uint64_t seed) {
  const training::Plan& plan = passes_.at(1)->plan;
  weights_ = std::make_unique<training::Weights>(plan, seed);
  for (const int id : plan.graph->parameters())
    scatter_constants(plan.graph->tensor(id), seed, weights_->view(plan, id));
}

ModelParameters ImageModel::parameters() const {
  ModelParameters all;
  const training::Plan& plan = passes_.at(1)->plan;
  for (const int id : plan.graph->parameters()) {
    const View view = weights_->view(plan, id);
    std::vector<double> values(static_cast<std::size_t>(view.elements()));
    take(view, values);
    all[plan.graph->tensor(id).name].assign(values.begin(), values.end());
  }
  return all;
}

void ImageModel::set_parameters(const ModelParameters& values) {
  const training::Plan& plan = passes_.at(1)->plan;
  if (!weights_) weights_ = std::make_unique<training::Weights>(plan, 1);
  for (const int id : plan.graph->parameters()) {
    const std::string& name = plan.graph->tensor(id).name;
    const View view = weights_->view(plan, id);
    const std::vector<float>& from = values.at(name);
    training::require(static_cast<std::int64_t>(from.size()) == view.elements(), "image model",
                      name + " has another size");
    put(std::span(from), view);
  }
}

const ImageModel::Pass& ImageModel::pass(std::int64_t samples) {
  std::unique_ptr<Pass>& pass = passes_[samples];
  if (pass) return *pass;
  pass = std::make_unique<Pass>();
  pass->model = workload_.model(samples, dtype_, false);
  pass->plan = training::make_plan(*pass->model.graph, false);
  pass->result = pass->model.outputs.at(0);
  pass->actions = actions_until(pass->plan, pass->result);
  return *pass;
}

ImageLane::ImageLane(ImageModel& model, std::int64_t samples,
                     const training::KernelFactory& kernels)
    : workload_(model.workload()),
      pass_(model.pass(samples)),
      lane_(pass_.plan, model.weights(), kernels),
      samples_(samples) {}

ImageSample ImageLane::read(std::uint64_t number) const {
  workload_.read(training::Split::evaluation, number, pass_.model, lane_);
  const View image = lane_.view(pass_.model.inputs[0]);
  return {{image.as<float>(), image.as<float>() + image.elements()}};
}

std::vector<double> ImageLane::output() const {
  const View view = lane_.view(pass_.result);
  std::vector<double> values(static_cast<std::size_t>(view.elements()));
  take(view, values);
  return values;
}

void ImageLane::put_image(const ImageSample& sample, std::int64_t i) {
  put(std::span(sample.image), part_of(lane_.view(pass_.model.inputs[0]), i, samples_));
}

View ImageLane::result(std::int64_t i) const {
  return part_of(lane_.view(pass_.result), i, samples_);
}

std::unique_ptr<ImageLane> make_image_lane(ImageModel& model, std::int64_t samples,
                                           const training::KernelFactory& kernels) {
  const std::string name = model.workload().name();
  if (name == "image") return std::make_unique<ClassifierLane>(model, samples, kernels);
  if (name == "detect") return std::make_unique<DetectorLane>(model, samples, kernels);
  return std::make_unique<GeneratorLane>(model, samples, kernels);
}

}  // namespace bench
