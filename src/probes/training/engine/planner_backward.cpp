// The backward half of the planner.
#include <algorithm>

#include "probes/training/engine/planner.h"

namespace bench::training {

void Planner::backward() {
  std::vector<bool> again;  // by segment
  for (int id = static_cast<int>(graph_.nodes().size()) - 1; id >= 0; --id) {
    const Node& which = node(id);
    if (which.segment >= 0) {
      again.resize(std::max(again.size(), static_cast<std::size_t>(which.segment) + 1));
      if (!again[static_cast<std::size_t>(which.segment)]) recompute(which.segment);
      again[static_cast<std::size_t>(which.segment)] = true;
    }
    const bool reached = gradient(which.output).buffer >= 0;
    if (reached && needs_gradient_[static_cast<std::size_t>(which.output)] && !which.op->is_loss())
      backward_of(id);
  }
}

void Planner::backward_of(int id) {
  const Node& which = node(id);
  Action action{id, Phase::backward};
  for (std::size_t i = 0; i < which.inputs.size(); ++i) {
    const int input = which.inputs[i];
    action.inputs.push_back(which.op->backward_reads_input(i) ? used(value(input)) : shaped(input));
  }
  action.output =
      which.op->backward_reads_output() ? used(value(which.output)) : shaped(which.output);
  for (const Slot& slot : saved_[static_cast<std::size_t>(id)]) action.saved.push_back(used(slot));
  if (which.op->backward_workspace() > 0)
    action.workspace =
        fresh({-1, 1, which.op->backward_workspace(), accumulator_of(graph_.compute())},
              Label::workspace);
  action.output_gradient = used(gradient(which.output));
  action.input_gradients.resize(which.inputs.size());
  action.input_adds.resize(which.inputs.size(), Adds::no);
  for (std::size_t i = 0; i < which.inputs.size(); ++i)
    if (needs_gradient_[static_cast<std::size_t>(which.inputs[i])])
      gradient_of_input(action, which, i);
  plan_.actions.push_back(std::move(action));
}

void Planner::gradient_of_input(Action& action, const Node& which, std::size_t i) {
  const int input = which.inputs[i];
  int& last = contributed_[static_cast<std::size_t>(input)];
  Slot& slot = gradient(input);
  if (tensor(input).kind == Tensor::Kind::parameter) {
    action.input_adds[i] = last >= 0 ? Adds::yes : Adds::after_first_micro_batch;
  } else if (slot.buffer >= 0) {
    action.input_adds[i] = Adds::yes;
  } else if (which.op->gradient_in_place() == static_cast<int>(i)) {
    slot = shaped(input);
    slot.buffer = action.output_gradient.buffer;
  } else {
    slot = fresh(shaped(input), Label::activation_gradients);
  }
  last = now();
  action.input_gradients[i] = used(slot);
}

void Planner::recompute(int segment) {
  const std::vector<bool> wanted = wanted_again(segment);
  for (std::size_t id = 0; id < wanted.size(); ++id)
    if (wanted[id]) forward_of(static_cast<int>(id), Phase::recompute);
}

/// By node: whether it must be recomputed, because its output or saved tensors were discarded and are
/// read by the segment's backward pass or by another recomputed node.
std::vector<bool> Planner::wanted_again(int segment) const {
  const auto& nodes = graph_.nodes();
  std::vector<bool> wanted(nodes.size(), false);
  std::vector<bool> read(graph_.tensors().size(), false);
  for (std::size_t id = nodes.size(); id-- > 0;) {
    const Node& which = nodes[id];
    if (which.segment != segment) continue;
    const auto output = static_cast<std::size_t>(which.output);
    const bool gone = !read_outside(which.output, segment);
    const bool saves = needs_gradient_[output] && !which.op->saved().empty();
    wanted[id] = saves || (gone && (kept_[output] || read[output]));
    if (wanted[id])
      for (const int input : which.inputs) read[static_cast<std::size_t>(input)] = true;
  }
  return wanted;
}

void Planner::order_gradients() {
  for (std::size_t id = 0; id < contributed_.size(); ++id) {
    const Tensor& of = tensor(static_cast<int>(id));
    const bool asked = needs_gradient_[id] && of.kind != Tensor::Kind::activation;
    require(!asked || contributed_[id] >= 0, of.kind == Tensor::Kind::input ? "input" : "parameter",
            "no loss depends on '" + of.name + "'");
    if (asked && of.kind == Tensor::Kind::parameter)
      plan_.gradient_order.push_back({static_cast<int>(id), contributed_[id]});
  }
  std::stable_sort(plan_.gradient_order.begin(), plan_.gradient_order.end(),
                   [](const auto& a, const auto& b) { return a.action < b.action; });
}

}  // namespace bench::training
