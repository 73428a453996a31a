#include "probes/operators/operator_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/elements.h"
#include "core/json_fields.h"
#include "training/operators/division.h"

namespace bench {
namespace {

using training::Action;
using training::Lane;
using training::Slot;
using training::Var;
using training::View;

bool finite(const OperatorResults& results) {
  return std::ranges::all_of(results, [](const std::vector<double>& tensor) {
    return std::ranges::all_of(tensor, [](double value) { return std::isfinite(value); });
  });
}

std::vector<double> read(training::Memory& memory, View view) {
  std::vector<std::byte> bytes(bytes_of(view).size());
  memory.download(view.data, bytes.data(), std::ssize(bytes));
  std::vector<double> values(static_cast<std::size_t>(view.elements()));
  decode(bytes.data(), view.dtype, false, values);
  return values;
}

/// To host memory.
void write(const std::vector<double>& values, View view) {
  auto* at = view.as<std::byte>();
  for (const double value : values) {
    encode(at, view.dtype, value);
    at += size_of(view.dtype);
  }
}

/// Writes all inputs, with the values that they have in the types of `rounded`, which is the same
/// operator.
void fill_inputs(const Lane& lane, const OperatorModel& model, const OperatorModel& rounded,
                 std::uint64_t seed) {
  for (std::size_t i = 0; i < model.inputs().filled().size(); ++i) {
    const auto& [like, fill] = rounded.inputs().filled()[i];
    write(input_values(rounded.graph().tensor(like.id), fill, seed),
          lane.view(model.inputs().filled()[i].var));
  }
}

/// In the type of `like`, with the values that it has in that of `rounded`.
std::vector<std::byte> output_gradient(const View& like, const OperatorModel& rounded,
                                       std::uint64_t seed) {
  std::vector<std::byte> bytes(bytes_of(like).size());
  write(input_values(rounded.graph().tensor(rounded.sent().id), {}, seed),
        {bytes.data(), like.rows, like.columns, like.dtype});
  return bytes;
}

void write_gradient(const Lane& lane, const OperatorModel& model,
                    const std::vector<std::byte>& bytes) {
  lane.memory().upload(bytes.data(), lane.tensor(model.sent()).data,
                       static_cast<std::int64_t>(bytes.size()));
  lane.memory().synchronise();
}

/// Up to where the operator's pass can be repeated: it has run once.
void run_first(Lane& lane, const OperatorModel& model, const OperatorModel& rounded,
               OperatorPass pass, std::uint64_t seed, const training::StepScalars& scalars) {
  fill_inputs(lane, model, rounded, seed);
  if (pass == OperatorPass::forward) {
    lane.run(0, model.action(pass) + 1, scalars);
  } else {
    const int begin = model.plan().backward_begin;
    lane.run(0, begin, scalars);
    write_gradient(lane, model, output_gradient(lane.tensor(model.sent()), rounded, seed));
    lane.run(begin, model.action(pass) + 1, scalars);
  }
  lane.memory().synchronise();
}

/// An operator whose gradients never take the memory of the output's.
class WithOwnGradients final : public training::Operator {
 public:
  explicit WithOwnGradients(std::unique_ptr<Operator> op) : op_(std::move(op)) {}
  std::string_view name() const override { return op_->name(); }
  void forward(const training::Frame& f) const override { op_->forward(f); }
  void backward(const training::Frame& f) const override { op_->backward(f); }
  bool backward_reads_input(std::size_t i) const override { return op_->backward_reads_input(i); }
  bool backward_reads_output() const override { return op_->backward_reads_output(); }
  std::vector<training::Saved> saved() const override { return op_->saved(); }
  std::int64_t forward_workspace() const override { return op_->forward_workspace(); }
  std::int64_t backward_workspace() const override { return op_->backward_workspace(); }
  int in_place() const override { return op_->in_place(); }
  double flops() const override { return op_->flops(); }
  double backward_flops(const std::vector<bool>& needed) const override {
    return op_->backward_flops(needed);
  }

 private:
  std::unique_ptr<Operator> op_;
};

/// Bytes of distinct buffers.
class DistinctBytes {
 public:
  explicit DistinctBytes(const training::Plan& plan) : plan_(plan) {}
  void skip(const Slot& slot) { seen_.insert(slot.buffer); }
  void skip(const std::vector<Slot>& slots) {
    for (const Slot& slot : slots) skip(slot);
  }
  void add(const Slot& slot) {
    if (slot.buffer < 0 || !seen_.insert(slot.buffer).second) return;
    const training::Arena arena = plan_.buffers[static_cast<std::size_t>(slot.buffer)].arena;
    const bool all = arena == training::Arena::parameters || arena == training::Arena::constants;
    (all ? shared : own) += static_cast<double>(slot.bytes());
  }
  void add(const std::vector<Slot>& slots) {
    for (const Slot& slot : slots) add(slot);
  }
  double own = 0.0, shared = 0.0;

 private:
  const training::Plan& plan_;
  std::set<int> seen_ = {};
};

training::StepScalars scalars_of(const OperatorModel& model) {
  training::StepScalars scalars;
  scalars.gradient_scale = 1.0 / static_cast<double>(model.rows());
  return scalars;
}

}  // namespace

OperatorModel::OperatorModel(const OperatorCase& which, const OperatorSizes& sizes, Dtype dtype)
    : graph_(dtype), inputs_(graph_) {
  why_not_ = which.build(inputs_, sizes, built_);
  if (!why_not_.empty()) return;
  node_ = static_cast<int>(graph_.nodes().size()) - 1;
  if (built_.rewrites_gradient) {
    std::unique_ptr<training::Operator>& op = graph_.last_node()->op;
    op = std::make_unique<WithOwnGradients>(std::move(op));
  }
  if (!graph_.nodes().back().op->is_loss()) {
    const Var behind = copy_of(built_.output);
    sent_ = training::end_stage(behind, behind.shape().rows()).sent;
  }
  plan_ = training::make_plan(graph_);
}

int OperatorModel::action(OperatorPass pass) const {
  const auto wanted =
      pass == OperatorPass::forward ? training::Phase::forward : training::Phase::backward;
  for (std::size_t i = 0; i < plan_.actions.size(); ++i)
    if (plan_.actions[i].node == node_ && plan_.actions[i].phase == wanted)
      return static_cast<int>(i);
  return -1;
}

OperatorCost OperatorModel::cost(OperatorPass pass) const {
  const Action& action = plan_.actions[static_cast<std::size_t>(this->action(pass))];
  const training::Operator& op = *graph_.nodes()[static_cast<std::size_t>(node_)].op;
  const double tensors = traffic_of(action) - static_cast<double>(action.workspace.bytes());
  OperatorCost cost;
  cost.flops = flops_of(action, op);
  cost.bytes = tensors;
  DistinctBytes used(plan_);
  for (const auto* slots : {&action.inputs, &action.saved, &action.input_gradients})
    used.add(*slots);
  for (const Slot* slot : {&action.output, &action.output_gradient, &action.workspace})
    used.add(*slot);
  cost.own = used.own;
  cost.shared = used.shared;
  DistinctBytes more(plan_);
  more.skip(action.inputs);
  more.skip(action.output_gradient);
  more.add(action.workspace);
  if (pass == OperatorPass::forward) {
    more.add(action.output);
    more.add(action.saved);
    cost.flops += built_.forward_flops;
    cost.bytes = built_.forward_bytes.value_or(tensors);
    if (built_.forward_working_set) {
      cost.own = *built_.forward_working_set;
      cost.shared = 0.0;
    }
  } else {
    more.add(action.input_gradients);
    cost.flops += built_.backward_flops;
    if (built_.passes_gradient) cost.bytes -= static_cast<double>(action.output_gradient.bytes());
    cost.bytes = built_.backward_bytes.value_or(cost.bytes);
  }
  cost.memory = more.own + more.shared;
  return cost;
}

std::vector<View> OperatorModel::results(const Lane& lane, OperatorPass pass) const {
  std::vector<View> views;
  if (pass == OperatorPass::forward) {
    views.push_back(lane.tensor(built_.output));
    for (const Var changed : built_.changed) views.push_back(lane.tensor(changed));
    return views;
  }
  for (const Var var : inputs_.with_gradient()) views.push_back(lane.gradient(var));
  return views;
}

bool OperatorModel::changes_its_inputs(OperatorPass pass) const {
  const Action& action = plan_.actions[static_cast<std::size_t>(this->action(pass))];
  const auto shares = [](const std::vector<Slot>& slots, const Slot& with) {
    return std::ranges::any_of(
        slots, [&](const Slot& slot) { return slot.buffer >= 0 && slot.buffer == with.buffer; });
  };
  if (pass == OperatorPass::forward)
    return !built_.changed.empty() || shares(action.inputs, action.output);
  return !built_.passes_gradient && shares(action.input_gradients, action.output_gradient);
}

OperatorRun::OperatorRun(const OperatorModel& model, const training::KernelFactory& kernels,
                         int threads, std::uint64_t seed)
    : model_(model),
      seed_(seed),
      memory_(kernels(model.graph().compute()).memory),
      weights_(model.plan(), seed, memory_),
      pool_(threads),
      scalars_(scalars_of(model)) {
  lanes_.resize(static_cast<std::size_t>(threads));
  pool_.run([&](int thread) {  // the thread that uses memory touches it first
    lanes_[static_cast<std::size_t>(thread)] =
        std::make_unique<Lane>(model.plan(), weights_, kernels);
  });
}

void OperatorRun::prepare(OperatorPass pass) {
  pass_ = pass;
  pool_.run([&](int thread) {
    run_first(*lanes_[static_cast<std::size_t>(thread)], model_, model_, pass_, seed_, scalars_);
  });
}

void OperatorRun::run(std::int64_t calls) {
  const int action = model_.action(pass_);
  pool_.run([&](int thread) {
    Lane& lane = *lanes_[static_cast<std::size_t>(thread)];
    for (std::int64_t call = 0; call < calls; ++call) lane.run(action, action + 1, scalars_);
    lane.memory().synchronise();
  });
}

OperatorResults OperatorRun::last_results(int thread) const {
  OperatorResults results;
  for (const View& view : model_.results(*lanes_[static_cast<std::size_t>(thread)], pass_))
    results.push_back(read(*memory_, view));
  return results;
}

Check OperatorRun::check(const OperatorResults& reference) {
  Check check{"the same operator in f64", 0.0, tolerance_of(model_.graph().compute())};
  const auto each_thread = [&](const auto& error_of) {
    for (int thread = 0; thread < pool_.size(); ++thread) {
      const double error = error_of(last_results(thread));
      if (!(error <= check.error)) check.error = error;
      if (std::isnan(error)) return;
    }
  };
  if (model_.changes_its_inputs(pass_)) {
    each_thread([](const OperatorResults& results) { return finite(results) ? 0.0 : kNoValue; });
    if (std::isnan(check.error)) return check;
    prepare(pass_);
  }
  each_thread(
      [&](const OperatorResults& results) { return largest_difference(results, reference); });
  return check;
}

OperatorResults OperatorRun::reference(const OperatorModel& wide,
                                       const training::KernelFactory& kernels,
                                       OperatorPass pass) const {
  training::Weights weights(wide.plan(), seed_);
  for (const int id : wide.graph().parameters())
    write(read(*memory_, weights_.view(model_.plan(), id)), weights.view(wide.plan(), id));
  Lane lane(wide.plan(), weights, kernels);
  run_first(lane, wide, model_, pass, seed_, scalars_);
  OperatorResults results;
  for (const View& view : wide.results(lane, pass)) results.push_back(read(lane.memory(), view));
  return results;
}

double tolerance_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return 0.03;
    case Dtype::f16:
      return 0.004;
    case Dtype::f64:
      return 1e-12;
    default:
      return 1e-4;
  }
}

double largest_difference(const OperatorResults& found, const OperatorResults& reference) {
  double worst = 0.0;
  for (std::size_t tensor = 0; tensor < reference.size(); ++tensor) {
    const std::vector<double>& right = reference[tensor];
    double largest = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      largest = std::max(largest, std::abs(right[i]));
      const double distance = std::abs(found[tensor][i] - right[i]);
      if (std::isnan(distance)) return distance;
      difference = std::max(difference, distance);
    }
    worst = std::max(worst, largest > 0.0 ? difference / largest : difference);
  }
  return worst;
}

}  // namespace bench
