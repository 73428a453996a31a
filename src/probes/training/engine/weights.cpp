#include "probes/training/engine/weights.h"

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
      fill_initial(tensors[i].parameter.initial, seed, tensors[i].name, 0, view(plan, id));
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

}  // namespace bench::training
