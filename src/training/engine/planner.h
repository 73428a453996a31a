// Orders a graph's work and assigns each tensor a buffer with a lifetime, for make_plan(), which
// places the buffers.
#pragma once

#include "training/engine/plan.h"

namespace bench::training {

class Planner {
 public:
  Planner(const Graph& graph, bool training, WeightGradients weights);
  Plan make();

 private:
  const Tensor& tensor(int id) const { return graph_.tensor(id); }
  const Node& node(int id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  Slot& value(int id) { return plan_.values[static_cast<std::size_t>(id)]; }
  Slot& gradient(int id) { return plan_.gradients[static_cast<std::size_t>(id)]; }

  void find_needs();
  std::vector<int> parameter_order() const;
  void keep_results();
  void place_permanent();
  void forward();
  void backward();
  void forward_of(int id, Phase phase);
  void backward_of(int id);
  bool comes_apart(const Node& node) const;
  void weights_of(int action);
  void weight_gradients();
  void fetch_again(int input);
  void gradient_of_input(Action& action, const Node& node, std::size_t input);
  void recompute(int segment);
  std::vector<bool> wanted_again(int segment) const;
  bool takes_input(const Node& node) const;
  bool read_outside(int tensor, int segment) const;
  void check_loss(const Node& node) const;
  void order_gradients();

  int now() const { return static_cast<int>(plan_.actions.size()); }
  Slot shaped(int id) const;
  Slot fresh(Slot slot, Label label, Arena arena = Arena::transient);
  /// Scratch memory of the action that is being made; absent for no elements.
  Slot workspace(std::int64_t elements);
  Slot used(Slot slot);

  const Graph& graph_;
  WeightGradients weights_;
  Plan plan_;
  std::vector<bool> needs_gradient_;      // by tensor
  std::vector<bool> kept_;                // by tensor: backward reads its value
  std::vector<int> readers_;              // by tensor
  std::vector<std::vector<Slot>> saved_;  // by node
  std::vector<bool> again_;               // by tensor: computed again for the backward pass
  std::vector<int> contributed_;          // by tensor: the action that last added to its gradient
  std::vector<int> apart_ = {};           // actions without the gradients of their weights
};

}  // namespace bench::training
