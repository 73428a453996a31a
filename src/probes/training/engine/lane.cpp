#include "probes/training/engine/lane.h"

namespace bench::training {

Lane::Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels)
    : plan_(plan),
      weights_(weights),
      kernels_(kernels(plan.graph->compute())),
      inputs_(plan.bytes(Arena::inputs), "inputs"),
      transient_(plan.bytes(Arena::transient), "activations"),
      gradients_(plan.bytes(Arena::gradients), "gradients") {
  for (const Action& action : plan.actions) frames_.push_back(frame_of(action));
}

View Lane::resolve(const Slot& slot) const {
  View view{nullptr, slot.rows, slot.columns, slot.dtype};
  if (slot.buffer < 0) return view;
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(slot.buffer)];
  switch (buffer.arena) {
    case Arena::inputs:
      view.data = inputs_.data() + buffer.offset;
      break;
    case Arena::transient:
      view.data = transient_.data() + buffer.offset;
      break;
    case Arena::gradients:
      view.data = gradients_.data() + buffer.offset;
      break;
    case Arena::parameters:
    case Arena::constants:
      return weights_.view(plan_, slot);
  }
  return view;
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

View Lane::view(Var var) const { return resolve(plan_.values[static_cast<std::size_t>(var.id)]); }

View Lane::gradient(Var var) const {
  return resolve(plan_.gradients[static_cast<std::size_t>(var.id)]);
}

View Lane::gradients() const {
  const Dtype dtype = plan_.graph->compute();
  return {gradients_.data(), 1, gradients_.bytes() / static_cast<std::int64_t>(size_of(dtype)),
          dtype};
}

void Lane::run(int first, int last, const StepScalars& scalars) {
  scalars_ = scalars;
  for (int i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Action& action = plan_.actions[at];
    const Operator& op = *plan_.graph->nodes()[static_cast<std::size_t>(action.node)].op;
    if (action.phase == Phase::backward)
      op.backward(frames_[at]);
    else
      op.forward(frames_[at]);
  }
}

}  // namespace bench::training
