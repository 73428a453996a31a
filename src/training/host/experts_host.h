// Routed experts on a CPU: tokens are sorted by expert, gathered, multiplied expert by expert, and
// added up in the order of the experts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "training/host/gemm_host.h"
#include "training/host/simple_host.h"
#include "training/kernels/expert_kernels.h"

namespace bench::training::BENCH_ISA {

/// The choices of one token. Reused for all, so that a step does not allocate.
template <class T>
class TokenRoute {
 public:
  void start(const Routing& routing) {
    top_ = routing.top;
    shares_.resize(static_cast<std::size_t>(routing.experts));
  }

  /// Softmax over all experts, and the `top` most probable ones.
  void read(const T* logits) {
    const auto experts = static_cast<Index>(shares_.size());
    T most = logits[0];
    for (Index e = 1; e < experts; ++e) most = std::max(most, logits[e]);
    T sum{};
    for (Index e = 0; e < experts; ++e)
      sum += shares_[static_cast<std::size_t>(e)] = std::exp(logits[e] - most);
    for (T& one : shares_) one /= sum;
    chosen_.clear();
    chosen_sum_ = T{};
    while (static_cast<Index>(chosen_.size()) < top_) {
      Index best = -1;
      for (Index e = 0; e < experts; ++e)
        if (!is_chosen(e) && (best < 0 || share(e) > share(best))) best = e;
      chosen_.push_back(best);
      chosen_sum_ += share(best);
    }
  }

  const std::vector<Index>& chosen() const { return chosen_; }
  T share(Index expert) const { return shares_[static_cast<std::size_t>(expert)]; }
  /// The weight of a chosen expert; those of all chosen ones sum to 1.
  T gate(Index expert) const { return share(expert) / chosen_sum_; }

 private:
  bool is_chosen(Index expert) const {
    return std::find(chosen_.begin(), chosen_.end(), expert) != chosen_.end();
  }

  Index top_ = 0;
  std::vector<T> shares_ = {};
  std::vector<Index> chosen_ = {};
  T chosen_sum_ = {};
};

/// The tokens of one sequence that each expert has taken so far.
class ExpertLoads {
 public:
  void start(const Routing& routing) {
    capacity_ = routing.capacity;
    taken_.assign(static_cast<std::size_t>(routing.experts), 0);
  }
  /// Whether the expert still takes this token.
  bool take(Index expert) {
    Index& taken = taken_[static_cast<std::size_t>(expert)];
    if (capacity_ > 0 && taken >= capacity_) return false;
    ++taken;
    return true;
  }
  Index taken(Index expert) const { return taken_[static_cast<std::size_t>(expert)]; }

 private:
  Index capacity_ = 0;
  std::vector<Index> taken_ = {};
};

template <class T>
class Experts final : public ExpertKernels {
 public:
  void route(const Routing& routing, View logits, View gates) override {
    std::memset(gates.data, 0, static_cast<std::size_t>(gates.elements()) * sizeof(T));
    token_.start(routing);
    for (Index i = 0; i < logits.rows; ++i) {
      if (i % routing.sequence == 0) loads_.start(routing);
      token_.read(logits.as<T>() + i * routing.experts);
      for (const Index e : token_.chosen())
        if (loads_.take(e)) gates.as<T>()[i * routing.experts + e] = token_.gate(e);
    }
  }

  void route_backward(const Routing& routing, const RouteBackward& what) override {
    token_.start(routing);
    slopes_.resize(static_cast<std::size_t>(routing.experts));
    const T scale = static_cast<T>(what.balance_scale * static_cast<double>(routing.experts));
    const T* logits = what.logits.as<T>();
    for (Index i = 0; i < what.logits.rows; ++i, logits += routing.experts) {
      if (i % routing.sequence == 0) {
        loads_.start(routing);
        if (scale != T{}) find_choice_shares(routing, logits);
      }
      token_.read(logits);
      std::fill(slopes_.begin(), slopes_.end(), T{});
      add_gate_slopes(what.gates_gradient.as<T>() + i * routing.experts);
      if (scale != T{}) add_balance_slopes(scale);
      T* to = what.logits_gradient.as<T>() + i * routing.experts;
      for (std::size_t e = 0; e < slopes_.size(); ++e)
        to[e] = what.add ? to[e] + slopes_[e] : slopes_[e];
    }
  }

  void statistics(const Routing& routing, View logits, View statistics) override {
    token_.start(routing);
    const Index experts = routing.experts, sequence = routing.sequence;
    for (Index s = 0; s < statistics.rows; ++s) {
      const T* rows = logits.as<T>() + s * sequence * experts;
      double* to = statistics.as<double>() + s * statistics.columns;
      const auto column = [&](RoutingColumn which) -> double& {
        return to[experts + static_cast<Index>(which)];
      };
      std::fill(to, to + statistics.columns, 0.0);
      loads_.start(routing);
      find_choice_shares(routing, rows);
      for (Index i = 0; i < sequence; ++i) {
        token_.read(rows + i * experts);
        for (const Index e : token_.chosen())
          if (!loads_.take(e)) column(RoutingColumn::dropped) += 1.0;
        for (Index e = 0; e < experts; ++e)
          column(RoutingColumn::balance) +=
              static_cast<double>(choice_share(e)) * static_cast<double>(token_.share(e));
      }
      column(RoutingColumn::balance) *=
          static_cast<double>(experts) / static_cast<double>(sequence);
      column(RoutingColumn::chosen) = static_cast<double>(sequence * routing.top);
      for (Index e = 0; e < experts; ++e) to[e] = static_cast<double>(loads_.taken(e));
    }
  }

  void forward(const ExpertTensors& t, View y) override {
    sort(t);
    const Index slots = order_of(t)[t.gates.columns];
    gather(t, t.x, t.gathered);
    each_expert(t, [&](Index e, Index first, Index count) {
      gemm_.multiply({}, rows_of(t.gathered, first, count), weights_of(t.up, e, t.x.columns),
                     rows_of(t.hidden, first, count));
    });
    activation_.swiglu_forward(rows_of(t.hidden, 0, slots), rows_of(t.activated, 0, slots));
    each_expert(t, [&](Index e, Index first, Index count) {  // gathered is no longer needed
      gemm_.multiply({}, rows_of(t.activated, first, count),
                     weights_of(t.down, e, t.activated.columns), rows_of(t.gathered, first, count));
    });
    std::memset(y.data, 0, static_cast<std::size_t>(y.elements()) * sizeof(T));
    each_slot(t, [&](Index slot, Index row, Index expert) {
      add_row(t.gathered.as<T>() + slot * y.columns, gate(t, row, expert),
              y.as<T>() + row * y.columns, y.columns);
    });
  }

  void backward(const ExpertTensors& t, const ExpertGradients& g) override {
    const Index slots = order_of(t)[t.gates.columns], d = t.x.columns, n = t.activated.columns;
    const View between{g.workspace.data, slots, d, t.x.dtype};
    const View of_activated{between.as<T>() + slots * d, slots, n, t.x.dtype};
    const View of_hidden{of_activated.as<T>() + slots * n, slots, 2 * n, t.x.dtype};
    gather(t, g.y, between);
    each_expert(t, [&](Index e, Index first, Index count) {
      gemm_.multiply({false, true}, rows_of(between, first, count), weights_of(t.down, e, n),
                     rows_of(of_activated, first, count));
    });
    weigh(t, g, between, of_activated);
    if (g.down)
      each_expert(t, [&](Index e, Index first, Index count) {
        weight_gradient(rows_of(t.activated, first, count), rows_of(between, first, count),
                        weights_of(g.down, e, n), g.add_down);
      });
    activation_.swiglu_backward(rows_of(t.hidden, 0, slots), of_activated, of_hidden, false);
    if (g.up) {
      gather(t, t.x, t.gathered);
      each_expert(t, [&](Index e, Index first, Index count) {
        weight_gradient(rows_of(t.gathered, first, count), rows_of(of_hidden, first, count),
                        weights_of(g.up, e, d), g.add_up);
      });
    }
    if (!g.x) return;
    each_expert(t, [&](Index e, Index first, Index count) {
      gemm_.multiply({false, true}, rows_of(of_hidden, first, count), weights_of(t.up, e, d),
                     rows_of(between, first, count));
    });
    zero_unless<T>(g.add_x, g.x);
    each_slot(t, [&](Index slot, Index row, Index) {
      add_row(between.as<T>() + slot * d, T{1}, g.x.as<T>() + row * d, d);
    });
  }

 private:
  /// By expert: its share of the choices of one sequence, dropped ones included.
  void find_choice_shares(const Routing& routing, const T* logits) {
    choice_shares_.assign(static_cast<std::size_t>(routing.experts), T{});
    const T each = T{1} / static_cast<T>(routing.sequence * routing.top);
    for (Index i = 0; i < routing.sequence; ++i) {
      token_.read(logits + i * routing.experts);
      for (const Index e : token_.chosen()) choice_shares_[static_cast<std::size_t>(e)] += each;
    }
  }
  T choice_share(Index expert) const { return choice_shares_[static_cast<std::size_t>(expert)]; }

  /// The derivative of the chosen experts' softmax. A dropped token's gate is 0 and so is its
  /// gradient, but the other gates still depend on its logit.
  void add_gate_slopes(const T* gradient) {
    T mean{};
    for (const Index e : token_.chosen()) {
      if (!loads_.take(e)) continue;
      mean += token_.gate(e) * gradient[e];
      slopes_[static_cast<std::size_t>(e)] = token_.gate(e) * gradient[e];
    }
    for (const Index e : token_.chosen())
      slopes_[static_cast<std::size_t>(e)] -= token_.gate(e) * mean;
  }

  /// The derivative of scale x sum over experts of choice share x softmax.
  void add_balance_slopes(T scale) {
    T mean{};
    for (std::size_t e = 0; e < slopes_.size(); ++e)
      mean += choice_shares_[e] * token_.share(static_cast<Index>(e));
    for (std::size_t e = 0; e < slopes_.size(); ++e)
      slopes_[e] += scale * token_.share(static_cast<Index>(e)) * (choice_shares_[e] - mean);
  }

  static std::int32_t* order_of(const ExpertTensors& t) { return t.order.as<std::int32_t>(); }
  static const std::int32_t* slots_of(const ExpertTensors& t) {
    return order_of(t) + t.gates.columns + 1;
  }
  static T gate(const ExpertTensors& t, Index row, Index expert) {
    return t.gates.as<T>()[row * t.gates.columns + expert];
  }
  static View rows_of(View x, Index first, Index count) {
    return {x.as<T>() + first * x.columns, count, x.columns, x.dtype};
  }
  /// The matrix of one expert, of `rows` rows.
  static View weights_of(View all, Index expert, Index rows) {
    return rows_of(all, expert * rows, rows);
  }

  static void sort(const ExpertTensors& t) {
    std::int32_t* starts = order_of(t);
    std::int32_t* slot = starts + t.gates.columns + 1;
    std::int32_t count = 0;
    for (Index e = 0; e < t.gates.columns; ++e) {
      starts[e] = count;
      for (Index i = 0; i < t.gates.rows; ++i)
        if (gate(t, i, e) != T{}) slot[count++] = static_cast<std::int32_t>(i);  // also if NaN
    }
    starts[t.gates.columns] = count;
  }

  /// work(expert, first slot, slots), experts without tokens included.
  template <class Work>
  static void each_expert(const ExpertTensors& t, Work work) {
    const std::int32_t* starts = order_of(t);
    for (Index e = 0; e < t.gates.columns; ++e)
      work(e, Index{starts[e]}, Index{starts[e + 1]} - starts[e]);
  }

  /// work(slot, row, expert)
  template <class Work>
  static void each_slot(const ExpertTensors& t, Work work) {
    each_expert(t, [&](Index e, Index first, Index count) {
      for (Index slot = first; slot < first + count; ++slot)
        work(slot, Index{slots_of(t)[slot]}, e);
    });
  }

  static void gather(const ExpertTensors& t, View from, View to) {
    each_slot(t, [&](Index slot, Index row, Index) {
      std::memcpy(to.as<T>() + slot * to.columns, from.as<T>() + row * from.columns,
                  static_cast<std::size_t>(from.columns) * sizeof(T));
    });
  }

  static void add_row(const T* from, T factor, T* __restrict to, Index columns) {
    for (Index j = 0; j < columns; ++j) to[j] += factor * from[j];
  }

  /// Of each token's gate: <gradient of y, expert's output> = <that of the activation, activation>.
  /// Then both gradients are multiplied by the gate.
  static void weigh(const ExpertTensors& t, const ExpertGradients& g, View of_output,
                    View of_activated) {
    const Index n = of_activated.columns;
    zero_unless<T>(g.add_gates, g.gates);
    each_slot(t, [&](Index slot, Index row, Index expert) {
      T* slope = of_activated.as<T>() + slot * n;
      const T* value = t.activated.as<T>() + slot * n;
      if (g.gates)
        g.gates.as<T>()[row * t.gates.columns + expert] +=
            row_sum<T>(n, [=](auto at) { return at(slope) * at(value); });
      const T weight = gate(t, row, expert);
      for (Index j = 0; j < n; ++j) slope[j] *= weight;
      T* output = of_output.as<T>() + slot * of_output.columns;
      for (Index j = 0; j < of_output.columns; ++j) output[j] *= weight;
    });
  }

  void weight_gradient(View x, View y_gradient, View gradient, bool add) {
    if (x.rows == 0) return zero_unless<T>(add, gradient);
    GemmOptions product{true, false};
    if (add) product.addend = gradient;
    gemm_.multiply(product, x, y_gradient, gradient);
  }

  Gemm<T> gemm_ = {};
  Activation<T> activation_ = {};
  TokenRoute<T> token_ = {};
  ExpertLoads loads_ = {};
  std::vector<T> slopes_ = {}, choice_shares_ = {};  // by expert
};

}  // namespace bench::training::BENCH_ISA
