#include "training/engine/planner.h"

#include <algorithm>

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
  plan_.weights_begin = now();
  for (const int action : apart_) weights_of(action);
}

/// Whether the gradients of a node's parameters are computed last.
bool Planner::comes_apart(const Node& which) const {
  const auto is_weight = [&](int input) {
    return tensor(input).kind == Tensor::Kind::parameter &&
           needs_gradient_[static_cast<std::size_t>(input)];
  };
  return weights_ == WeightGradients::last && which.op->separates_weight_gradients() &&
         std::ranges::any_of(which.inputs, is_weight);
}

/// What backward_of() left out of an action, with the same operands.
void Planner::weights_of(int index) {
  Action action = plan_.actions[static_cast<std::size_t>(index)];
  const Node& which = node(action.node);
  action.workspace = workspace(which.op->backward_workspace());
  action.input_gradients.assign(which.inputs.size(), {});
  for (const auto* slots : {&action.inputs, &action.saved})
    for (const Slot& slot : *slots) used(slot);
  used(action.output);
  used(action.output_gradient);
  for (std::size_t i = 0; i < which.inputs.size(); ++i)
    if (tensor(which.inputs[i]).kind == Tensor::Kind::parameter &&
        needs_gradient_[static_cast<std::size_t>(which.inputs[i])])
      gradient_of_input(action, which, i);
  plan_.actions.push_back(std::move(action));
}

/// Computes an input again before the backward pass of its first reader there.
void Planner::fetch_again(int input) {
  const Tensor& of = tensor(input);
  if (of.producer < 0 || !node(of.producer).op->again_for_backward()) return;
  if (!again_[static_cast<std::size_t>(input)]) forward_of(of.producer, Phase::recompute);
}

void Planner::backward_of(int id) {
  const Node& which = node(id);
  for (std::size_t i = 0; i < which.inputs.size(); ++i)
    if (which.op->backward_reads_input(i)) fetch_again(which.inputs[i]);
  Action action{id, Phase::backward};
  for (std::size_t i = 0; i < which.inputs.size(); ++i) {
    const int input = which.inputs[i];
    action.inputs.push_back(which.op->backward_reads_input(i) ? used(value(input)) : shaped(input));
  }
  action.output =
      which.op->backward_reads_output() ? used(value(which.output)) : shaped(which.output);
  for (const Slot& slot : saved_[static_cast<std::size_t>(id)]) action.saved.push_back(used(slot));
  action.workspace = workspace(which.op->backward_workspace());
  action.output_gradient = used(gradient(which.output));
  action.input_gradients.resize(which.inputs.size());
  action.input_adds.resize(which.inputs.size(), Adds::no);
  const bool apart = comes_apart(which);
  if (apart) apart_.push_back(now());
  for (std::size_t i = 0; i < which.inputs.size(); ++i)
    if (needs_gradient_[static_cast<std::size_t>(which.inputs[i])] && which.op->has_gradient(i) &&
        !(apart && tensor(which.inputs[i]).kind == Tensor::Kind::parameter))
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
  } else if (which.op->gradient_in_place() == static_cast<int>(i) && !comes_apart(which)) {
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

/// By node: whether it must be recomputed, because its output or saved tensors were discarded and
/// are read by the segment's backward pass or by another recomputed node.
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

namespace {

bool asks_for_gradient(const Tensor& tensor) {
  return tensor.kind == Tensor::Kind::parameter ? tensor.parameter.trainable
                                                : tensor.wants_gradient;
}

}  // namespace

Planner::Planner(const Graph& graph, bool training, WeightGradients weights)
    : graph_(graph), weights_(weights) {
  const std::size_t tensors = graph.tensors().size();
  plan_.graph = &graph;
  plan_.training = training;
  plan_.values.resize(tensors);
  plan_.gradients.resize(tensors);
  contributed_.assign(tensors, -1);
  saved_.resize(graph.nodes().size());
  again_.assign(tensors, false);
}

Plan Planner::make() {
  find_needs();
  place_permanent();
  forward();
  plan_.backward_begin = plan_.weights_begin = now();
  if (plan_.training) backward();
  order_gradients();
  keep_results();
  return std::move(plan_);
}

/// A tensor without readers is a result, as is an input's gradient: it lives until the end.
void Planner::keep_results() {
  const auto keep = [&](const Slot& slot) {
    plan_.buffers[static_cast<std::size_t>(slot.buffer)].last = now() - 1;
  };
  for (std::size_t id = 0; id < readers_.size(); ++id) {
    const Tensor& of = tensor(static_cast<int>(id));
    if (readers_[id] == 0 && of.kind == Tensor::Kind::activation) keep(plan_.values[id]);
    if (needs_gradient_[id] && of.kind == Tensor::Kind::input) keep(plan_.gradients[id]);
  }
}

void Planner::find_needs() {
  const std::size_t tensors = graph_.tensors().size();
  needs_gradient_.assign(tensors, false);
  kept_.assign(tensors, false);
  readers_.assign(tensors, 0);
  for (std::size_t id = 0; id < tensors; ++id)
    needs_gradient_[id] = plan_.training && asks_for_gradient(graph_.tensors()[id]);
  for (const Node& node : graph_.nodes()) {
    const auto output = static_cast<std::size_t>(node.output);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto input = static_cast<std::size_t>(node.inputs[i]);
      ++readers_[input];
      if (needs_gradient_[input] && node.op->has_gradient(i)) needs_gradient_[output] = true;
    }
    if (!needs_gradient_[output] || node.op->is_loss()) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.op->backward_reads_input(i)) kept_[static_cast<std::size_t>(node.inputs[i])] = true;
    if (node.op->backward_reads_output()) kept_[output] = true;
  }
}

/// Trainable ones in the order in which their gradients become final, which is that of their first
/// users from the last to the first; frozen ones after them. It is the same for training and
/// evaluation, so that both see the same arena.
std::vector<int> Planner::parameter_order() const {
  std::vector<int> order = graph_.parameters(), first_user(graph_.tensors().size(), -1);
  for (std::size_t id = graph_.nodes().size(); id-- > 0;)
    for (const int input : graph_.nodes()[id].inputs)
      first_user[static_cast<std::size_t>(input)] = static_cast<int>(id);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const bool trained_a = tensor(a).parameter.trainable, trained_b = tensor(b).parameter.trainable;
    if (trained_a != trained_b) return trained_a;
    return first_user[static_cast<std::size_t>(a)] > first_user[static_cast<std::size_t>(b)];
  });
  return order;
}

void Planner::place_permanent() {
  for (const int id : parameter_order()) {
    const auto i = static_cast<std::size_t>(id);
    require(readers_[i] > 0, "parameter", "'" + tensor(id).name + "' is not used");
    value(id) = fresh(shaped(id), Label::parameters, Arena::parameters);
    if (needs_gradient_[i]) gradient(id) = fresh(shaped(id), Label::gradients, Arena::gradients);
  }
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
    const int id = static_cast<int>(i);
    switch (tensor(id).kind) {
      case Tensor::Kind::constant:
        value(id) = fresh(shaped(id), Label::constants, Arena::constants);
        break;
      case Tensor::Kind::input:
        value(id) = fresh(shaped(id), Label::inputs, Arena::inputs);
        break;
      case Tensor::Kind::parameter:
      case Tensor::Kind::activation:
        break;
    }
  }
}

void Planner::forward() {
  for (int id = 0; id < static_cast<int>(graph_.nodes().size()); ++id) {
    forward_of(id, Phase::forward);
    if (!node(id).op->is_loss() || !plan_.training) continue;
    check_loss(node(id));
    const int logits = node(id).inputs[0];
    gradient(logits) = value(logits);
  }
}

void Planner::forward_of(int id, Phase phase) {
  const Node& which = node(id);
  Action action{id, phase};
  for (const int input : which.inputs) action.inputs.push_back(used(value(input)));
  Slot& output = value(which.output);
  if (phase == Phase::recompute) again_[static_cast<std::size_t>(which.output)] = true;
  if (takes_input(which)) {
    const int buffer = value(which.inputs[static_cast<std::size_t>(which.op->in_place())]).buffer;
    output = shaped(which.output);
    output.buffer = buffer;
  } else if (phase == Phase::forward || which.op->again_for_backward() ||
             !read_outside(which.output, which.segment)) {
    output = fresh(shaped(which.output), Label::activations);
  }
  action.output = used(output);
  std::vector<Slot>& saved = saved_[static_cast<std::size_t>(id)];
  saved.clear();
  const Dtype compute = graph_.compute();
  for (const Saved& what : which.op->saved())
    saved.push_back(fresh({-1, what.shape.rows(), what.shape.columns(),
                           what.statistic ? accumulator_of(compute) : compute},
                          Label::activations));
  action.saved = saved;
  action.workspace = workspace(which.op->forward_workspace());
  plan_.actions.push_back(std::move(action));
}

Slot Planner::workspace(std::int64_t elements) {
  if (elements == 0) return {};
  return fresh({-1, 1, elements, accumulator_of(graph_.compute())}, Label::workspace);
}

bool Planner::takes_input(const Node& which) const {
  if (which.op->in_place() < 0) return false;
  const int input = which.inputs[static_cast<std::size_t>(which.op->in_place())];
  const Tensor& from = tensor(input);
  return from.kind == Tensor::Kind::activation && readers_[static_cast<std::size_t>(input)] == 1 &&
         !kept_[static_cast<std::size_t>(input)] && node(from.producer).segment == which.segment;
}

bool Planner::read_outside(int id, int segment) const {
  return std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& reader) {
    return reader.segment != segment &&
           std::find(reader.inputs.begin(), reader.inputs.end(), id) != reader.inputs.end();
  });
}

void Planner::check_loss(const Node& which) const {
  const auto logits = static_cast<std::size_t>(which.inputs[0]);
  require(readers_[logits] == 1 && !kept_[logits], std::string(which.op->name()),
          "'" + tensor(which.inputs[0]).name +
              "' has another reader, but the loss overwrites it with its gradient");
}

Slot Planner::shaped(int id) const {
  const Tensor& of = tensor(id);
  return {-1, of.shape.rows(), of.shape.columns(), of.dtype};
}

Slot Planner::fresh(Slot slot, Label label, Arena arena) {
  slot.buffer = static_cast<int>(plan_.buffers.size());
  plan_.buffers.push_back({arena, label, slot.bytes(), now(), now()});
  return slot;
}

Slot Planner::used(Slot slot) {
  if (slot.buffer >= 0) plan_.buffers[static_cast<std::size_t>(slot.buffer)].last = now();
  return slot;
}

}  // namespace bench::training
