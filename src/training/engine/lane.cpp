#include "training/engine/lane.h"

#include <functional>
#include <utility>

namespace bench::training {
namespace {

void fill_constant(const Tensor& tensor, View view) {
  for (std::size_t i = 0; i < tensor.values.size(); ++i)
    if (view.dtype == Dtype::f64)
      view.as<double>()[i] = tensor.values[i];
    else
      view.as<float>()[i] = static_cast<float>(tensor.values[i]);
}

}  // namespace

Weights::Weights(const Plan& plan, std::uint64_t seed, std::shared_ptr<Memory> memory)
    : memory_(std::move(memory)),
      parameters_(plan.bytes(Arena::parameters), "parameters", memory_),
      constants_(plan.bytes(Arena::constants), "constants", memory_),
      dtype_(plan.graph->compute()) {
  if (!memory_->on_host()) {
    const Weights made(plan, seed);
    memory_->upload(made.parameters_.data(), parameters_.data(), parameters_.bytes());
    memory_->upload(made.constants_.data(), constants_.data(), constants_.bytes());
    return;
  }
  const auto& tensors = plan.graph->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const int id = static_cast<int>(i);
    if (tensors[i].kind == Tensor::Kind::parameter)
      fill_initial(tensors[i].parameter, seed, tensors[i].name, view(plan, id));
    if (tensors[i].kind == Tensor::Kind::constant) fill_constant(tensors[i], view(plan, id));
  }
}

View Weights::view(const Plan& plan, const Slot& slot) const {
  const Buffer& buffer = plan.buffers[static_cast<std::size_t>(slot.buffer)];
  const MemoryBlock& block = buffer.arena == Arena::parameters ? parameters_ : constants_;
  require(plan.bytes(buffer.arena) == block.bytes(), "weights",
          "the other plan's parameters take " + std::to_string(plan.bytes(buffer.arena)) +
              " bytes, these take " + std::to_string(block.bytes()));
  return {block.data() + buffer.offset, slot.rows, slot.columns, slot.dtype};
}

Weights Weights::on_host() const {
  Weights here = *this;  // shares its blocks
  if (memory_->on_host()) return here;
  const auto copy = [&](const MemoryBlock& there, const char* purpose) {
    MemoryBlock block(there.bytes(), purpose);
    memory_->download(there.data(), block.data(), there.bytes());
    return block;
  };
  here.parameters_ = copy(parameters_, "parameter copy");
  here.constants_ = copy(constants_, "constant copy");
  here.memory_ = host_memory();
  return here;
}

View Weights::all() const {
  return {parameters_.data(), 1, parameters_.bytes() / static_cast<std::int64_t>(size_of(dtype_)),
          dtype_};
}

Lane::Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels,
           const Lane* same_gradients)
    : plan_(plan),
      weights_(weights),
      kernels_(kernels(plan.graph->compute())),
      inputs_(plan.bytes(Arena::inputs), "inputs", weights.memory()),
      transient_(plan.bytes(Arena::transient), "activations", weights.memory()),
      gradients_(same_gradients != nullptr
                     ? same_gradients->gradients_
                     : MemoryBlock(plan.bytes(Arena::gradients), "gradients", weights.memory())),
      loss_sum_(same_gradients != nullptr
                    ? same_gradients->loss_sum_
                    : MemoryBlock(sizeof(double), "loss sum", weights.memory())) {
  require(kernels_.memory->on_host() == memory().on_host(), "lane",
          "the kernels and the weights use different memory");
  if (!memory().on_host())
    staging_ = MemoryBlock::staging(inputs_.bytes(), "staged inputs", weights.memory());
  for (const Action& action : plan.actions) frames_.push_back(frame_of(action));
}

View Lane::resolve(const Slot& slot) const {
  if (slot.buffer < 0) return {nullptr, slot.rows, slot.columns, slot.dtype};
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(slot.buffer)];
  if (buffer.arena == Arena::parameters || buffer.arena == Arena::constants)
    return weights_.view(plan_, slot);
  const MemoryBlock& block = buffer.arena == Arena::inputs      ? inputs_
                             : buffer.arena == Arena::transient ? transient_
                                                                : gradients_;
  return {block.data() + buffer.offset, slot.rows, slot.columns, slot.dtype};
}

Frame Lane::frame_of(const Action& action) const {
  Frame frame;
  frame.kernels = &kernels_;
  frame.scalars = &scalars_;
  frame.training = plan_.training;
  for (const Slot& slot : action.inputs) frame.inputs.push_back(resolve(slot));
  frame.output = resolve(action.output);
  for (const Slot& slot : action.saved) frame.saved.push_back(resolve(slot));
  frame.workspace = resolve(action.workspace);
  frame.output_gradient = resolve(action.output_gradient);
  for (const Slot& slot : action.input_gradients) frame.input_gradients.push_back(resolve(slot));
  frame.input_adds = action.input_adds;
  return frame;
}

View Lane::view(Var var) const {
  const Slot& slot = plan_.values[static_cast<std::size_t>(var.id)];
  View view = resolve(slot);
  if (memory().on_host()) return view;
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(slot.buffer)];
  if (buffer.arena == Arena::inputs) {
    memory().uploaded();
    view.data = staging_.data() + buffer.offset;
    return view;
  }
  MemoryBlock& copy = seen_[slot.buffer];
  if (copy.bytes() == 0) copy = MemoryBlock(buffer.bytes, "results");
  memory().download(view.data, copy.data(),
                    view.elements() * static_cast<std::int64_t>(size_of(view.dtype)));
  view.data = copy.data();
  return view;
}

View Lane::gradient(Var var) const {
  return resolve(plan_.gradients[static_cast<std::size_t>(var.id)]);
}

View Lane::gradients() const {
  const Dtype dtype = plan_.graph->compute();
  return {gradients_.data(), 1, gradients_.bytes() / static_cast<std::int64_t>(size_of(dtype)),
          dtype};
}

void Lane::upload() {
  if (memory().on_host()) return;
  memory().upload(staging_.data(), inputs_.data(), inputs_.bytes());
  uploaded_ = true;
}

void Lane::run(int first, int last, const StepScalars& scalars) {
  scalars_ = scalars;
  if (first == 0 && !uploaded_) upload();
  uploaded_ = false;
  if (first == last) return;
  if (!kernels_.recorder) return work(first, last);
  const auto piece = [&] { work(first, last); };
  kernels_.recorder->run({first, last, scalars.first_micro_batch, scalars.gradient_scale},
                         std::cref(piece));
}

void Lane::add_up(Var losses, bool add) {
  const TimelineScope recorded(timeline_, Activity::losses);
  kernels_.loss->add_up(resolve(plan_.values[static_cast<std::size_t>(losses.id)]),
                        {loss_sum_.data(), 1, 1, Dtype::f64}, add);
}

double Lane::sum_of_losses() const {
  double sum = 0.0;
  memory().download(loss_sum_.data(), &sum, sizeof sum);
  return sum;
}

void Lane::work(int first, int last) {
  for (int i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (timeline_ == nullptr) {
      work(at);
      continue;
    }
    const Seconds begin = steady_now();
    work(at);
    timeline_->add(Activity::operation, begin, steady_now(), i);
  }
}

void Lane::work(std::size_t at) {
  const Action& action = plan_.actions[at];
  const Operator& op = *plan_.graph->nodes()[static_cast<std::size_t>(action.node)].op;
  if (action.phase == Phase::backward)
    op.backward(frames_[at]);
  else
    op.forward(frames_[at]);
}

}  // namespace bench::training
