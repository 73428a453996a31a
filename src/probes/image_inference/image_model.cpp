#include "probes/image_inference/image_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elements.h"
#include "training/detection/anchors.h"
#include "training/models/detect.h"
#include "training/models/flow.h"
#include "training/workloads/detect_evaluation.h"

namespace bench {
namespace {

using training::rows_of;
using training::View;

/// In the type of the view.
template <class Value>
void put(std::span<const Value> values, const View& to) {
  if (to.dtype == Dtype::f64)
    std::ranges::copy(values, to.as<double>());
  else
    std::ranges::transform(values, to.as<float>(),
                           [](Value value) { return static_cast<float>(value); });
}

/// Of input number `input`, the part of sample i of `samples`.
View part_of(const training::Lane& lane, training::Var input, std::int64_t i,
             std::int64_t samples) {
  const View whole = lane.view(input);
  const std::int64_t rows = whole.rows / samples;
  return rows_of(whole, i * rows, rows);
}

class ClassifierLane final : public ImageLane {
 public:
  ClassifierLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels)
      : ImageLane(model, samples, kernels), classes_(static_cast<std::size_t>(samples)) {}

  void answer(std::span<const ImageSample* const> samples) override {
    for (std::size_t i = 0; i < samples.size(); ++i)
      put(std::span(samples[i]->image),
          part_of(lane_, pass_.model.inputs[0], static_cast<std::int64_t>(i), samples_));
    run();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::vector<double> logits = output(static_cast<std::int64_t>(i), 1);
      classes_[i] = std::ranges::max_element(logits) - logits.begin();
    }
  }
  std::vector<double> numbers(std::int64_t i) const override {
    std::vector<double> all = output(i, 1);
    all.push_back(static_cast<double>(classes_[static_cast<std::size_t>(i)]));
    return all;
  }

 private:
  std::vector<std::int64_t> classes_;
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
      put(std::span(samples[i]->image),
          part_of(lane_, pass_.model.inputs[0], static_cast<std::int64_t>(i), samples_));
    run();
    const View predictions = lane_.view(pass_.result);
    for (std::size_t i = 0; i < samples.size(); ++i)
      found_[i] = training::read_detections(
          predictions, static_cast<std::int64_t>(i * anchors_.size()), anchors_);
  }
  std::vector<double> numbers(std::int64_t i) const override {
    std::vector<double> all;
    for (const training::Detection& one : found_[static_cast<std::size_t>(i)])
      for (const double number : {one.box.left, one.box.top, one.box.right, one.box.bottom,
                                  static_cast<double>(one.label), one.score})
        all.push_back(number);
    double sum = 0.0, squares = 0.0;
    const auto rows = static_cast<std::int64_t>(anchors_.size());
    for (std::int64_t row = i * rows; row < (i + 1) * rows; ++row)
      for (const double value : output(row, 1)) {
        sum += value;
        squares += value * value;
      }
    all.push_back(sum);
    all.push_back(squares);
    return all;
  }

 private:
  std::vector<training::Box> anchors_;
  std::vector<std::vector<training::Detection>> found_;
};

/// Euler's steps from noise at time 1 to an image at time 0.
class GeneratorLane final : public ImageLane {
 public:
  GeneratorLane(ImageModel& model, std::int64_t samples, const training::KernelFactory& kernels)
      : ImageLane(model, samples, kernels), steps_(model.steps()) {
    const training::FlowShape shape = training::flow_preset(model.workload().preset());
    for (std::int64_t step = 0; step < steps_; ++step) {
      times_.emplace_back(static_cast<std::size_t>(shape.times));
      training::describe_time(1.0 - static_cast<double>(step) / static_cast<double>(steps_),
                              shape.time_scale, shape.times, times_.back().data());
    }
  }

  void answer(std::span<const ImageSample* const> samples) override {
    images_.clear();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const View words =
          part_of(lane_, pass_.model.inputs[0], static_cast<std::int64_t>(i), samples_);
      std::ranges::copy(samples[i]->words, words.as<std::int32_t>());
      images_.insert(images_.end(), samples[i]->image.begin(), samples[i]->image.end());
    }
    const View times = lane_.view(pass_.model.inputs[2]);
    for (const std::vector<double>& time : times_) {
      for (std::int64_t i = 0; i < times.rows; ++i) put(std::span(time), rows_of(times, i, 1));
      put(std::span<const double>(images_), lane_.view(pass_.model.inputs[1]));
      run();
      const std::vector<double> velocity = output();
      for (std::size_t i = 0; i < images_.size(); ++i)
        images_[i] -= velocity[i] / static_cast<double>(steps_);
    }
  }
  std::vector<double> numbers(std::int64_t i) const override {
    const auto each = static_cast<std::ptrdiff_t>(images_.size()) / samples_;
    return {images_.begin() + i * each, images_.begin() + (i + 1) * each};
  }

 private:
  std::int64_t steps_;
  std::vector<std::vector<double>> times_ = {};
  std::vector<double> images_ = {};
};

/// Parameters that start as constants get random numbers added: behind a matrix or a gain of zeros
/// no answer would depend on what was computed.
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

bool answers_about_images(const std::string& workload) {
  return workload == "image" || workload == "detect" || workload == "flow";
}

ImageModel::ImageModel(const training::Workload& workload, std::int64_t steps, Dtype dtype,
                       std::uint64_t seed)
    : workload_(workload), steps_(workload.name() == "flow" ? steps : 1), dtype_(dtype) {
  weights_ = std::make_unique<training::Weights>(pass(1).plan, seed);
  const training::Plan& plan = pass(1).plan;
  for (const int id : plan.graph->parameters())
    scatter_constants(plan.graph->tensor(id), seed, weights_->view(plan, id));
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

ModelParameters ImageModel::parameters() const {
  ModelParameters all;
  const training::Plan& plan = passes_.at(1)->plan;
  for (const int id : plan.graph->parameters()) {
    const View view = weights_->view(plan, id);
    std::vector<double> values(static_cast<std::size_t>(view.elements()));
    decode(view.as<std::byte>(), view.dtype, false, values);
    all[plan.graph->tensor(id).name].assign(values.begin(), values.end());
  }
  return all;
}

void ImageModel::set_parameters(const ModelParameters& values) {
  const training::Plan& plan = pass(1).plan;
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
    : pass_(model.pass(samples)), lane_(pass_.plan, model.weights(), kernels), samples_(samples) {}

std::vector<double> ImageLane::output(std::int64_t first_row, std::int64_t rows) const {
  const View view = rows_of(lane_.view(pass_.result), first_row, rows);
  std::vector<double> values(static_cast<std::size_t>(view.elements()));
  decode(view.as<std::byte>(), view.dtype, false, values);
  return values;
}

std::unique_ptr<ImageLane> make_image_lane(ImageModel& model, std::int64_t samples,
                                           const training::KernelFactory& kernels) {
  const std::string name = model.workload().name();
  if (name == "image") return std::make_unique<ClassifierLane>(model, samples, kernels);
  if (name == "detect") return std::make_unique<DetectorLane>(model, samples, kernels);
  return std::make_unique<GeneratorLane>(model, samples, kernels);
}

}  // namespace bench
