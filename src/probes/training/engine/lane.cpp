#include "probes/training/engine/lane.h"

namespace bench::training {
namespace {

std::int64_t arena_bytes(const Plan& plan, Arena arena) {
  return plan.arena_bytes[static_cast<std::size_t>(arena)];
}

}  // namespace

Lane::Lane(const Plan& plan, const Weights& weights, const KernelFactory& kernels)
    : plan_(plan),
      weights_(weights),
      kernels_(kernels(plan.graph->compute())),
      inputs_(arena_bytes(plan, Arena::inputs), "inputs"),
      transient_(arena_bytes(plan, Arena::transient), "activations"),
      gradients_(arena_bytes(plan, Arena::gradients), "gradients") {
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
      break;
  }
  return view;
}

Frame Lane::frame_of(const Action& action) const {
  const Node& node = plan_.graph->nodes()[static_cast<std::size_t>(action.node)];
  Frame frame;
  frame.kernels = &kernels_;
  frame.scalars = &scalars_;
  frame.training = plan_.training;
  for (std::size_t i = 0; i < action.inputs.size(); ++i) {
    const Tensor& tensor = plan_.graph->tensors()[static_cast<std::size_t>(node.inputs[i])];
    const bool shared =
        tensor.kind == Tensor::Kind::parameter || tensor.kind == Tensor::Kind::constant;
    const bool there = action.inputs[i].buffer >= 0;
    frame.inputs.push_back(shared && there ? weights_.view(plan_, node.inputs[i])
                                           : resolve(action.inputs[i]));
  }
  frame.output = resolve(action.output);
  for (const Slot& slot : action.saved) frame.saved.push_back(resolve(slot));
  frame.workspace = resolve(action.workspace);
  frame.output_gradient = resolve(action.output_gradient);
  for (const Slot& slot : action.input_gradients) frame.input_gradients.push_back(resolve(slot));
  frame.input_adds = action.input_adds;
  return frame;
}

View Lane::view(Var var) const {
  const auto id = static_cast<std::size_t>(var.id);
  const bool shared = plan_.graph->tensors()[id].kind == Tensor::Kind::parameter ||
                      plan_.graph->tensors()[id].kind == Tensor::Kind::constant;
  return shared ? weights_.view(plan_, var.id) : resolve(plan_.values[id]);
}

View Lane::gradient(Var parameter) const {
  return resolve(plan_.gradients[static_cast<std::size_t>(parameter.id)]);
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
