// The tensors of one kernel call in any memory, equal wherever the call is made.
#pragma once

#include <vector>

#include "core/elements.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench::training {

class CaseTensors {
 public:
  explicit CaseTensors(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}

  /// value(i) of every element i.
  template <class Value>
  View made(std::int64_t rows, std::int64_t columns, Dtype dtype, const Value& value) {
    const std::size_t size = size_of(dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows * columns) * size);
    for (std::size_t i = 0; i < bytes.size() / size; ++i)
      encode(bytes.data() + i * size, dtype, value(i));
    const MemoryBlock& block =
        blocks_.emplace_back(static_cast<std::int64_t>(bytes.size()), "a kernel's case", memory_);
    memory_->upload(bytes.data(), block.data(), block.bytes());
    memory_->synchronise();
    return {block.data(), rows, columns, dtype};
  }
  /// Normal values times `scale`; another stream for each tensor of a case.
  View values(std::int64_t rows, std::int64_t columns, Dtype dtype, double scale = 1.0) {
    const std::uint64_t seed = blocks_.size() + 1;
    return made(rows, columns, dtype,
                [&](std::uint64_t i) { return scale * random_normal(seed, i); });
  }
  View constant(std::int64_t rows, std::int64_t columns, Dtype dtype, double value) {
    return made(rows, columns, dtype, [&](std::uint64_t) { return value; });
  }
  /// Some ids often, many once, none negative.
  View ids(std::int64_t rows, std::int64_t bound) {
    return made(rows, 1, Dtype::int32, [&](std::uint64_t i) {
      const std::uint64_t bits = random_bits(99, i);
      return static_cast<double>(bits % 3 == 0 ? 1
                                               : (bits >> 8) % static_cast<std::uint64_t>(bound));
    });
  }
  const StepNumbers* step(const StepNumbers& numbers) {
    const MemoryBlock& block = blocks_.emplace_back(static_cast<std::int64_t>(sizeof numbers),
                                                    "a step's numbers", memory_);
    memory_->upload(&numbers, block.data(), block.bytes());
    memory_->synchronise();
    return reinterpret_cast<const StepNumbers*>(block.data());
  }
  /// Of clicks: 1 or, twice as often, 0.
  View labels(std::int64_t rows) {
    return made(rows, 1, Dtype::f32,
                [](std::uint64_t i) { return random_bits(98, i) % 3 == 0 ? 1.0 : 0.0; });
  }
  /// What the call has to write: compared afterwards.
  View result(View view) {
    results_.push_back(view);
    return view;
  }
  void number(double value) { numbers_.push_back(value); }

  /// Tensor by tensor, single numbers at last.
  std::vector<std::vector<double>> read() {
    memory_->synchronise();
    std::vector<std::vector<double>> all;
    for (const View& view : results_) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(view.elements()) * size_of(view.dtype));
      memory_->download(view.data, bytes.data(), static_cast<std::int64_t>(bytes.size()));
      std::vector<double> values(static_cast<std::size_t>(view.elements()));
      decode(bytes.data(), view.dtype, false, values);
      all.push_back(std::move(values));
    }
    for (const double number : numbers_) all.push_back({number});
    return all;
  }

 private:
  std::shared_ptr<Memory> memory_;
  std::vector<MemoryBlock> blocks_ = {};
  std::vector<View> results_ = {};
  std::vector<double> numbers_ = {};
};

}  // namespace bench::training
