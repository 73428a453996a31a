// What a training is said to need, against what it takes.
#include "training/trainer/memory_need.h"

#include "tests/support/catch.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"

namespace bench::training {
namespace {

/// Bytes by label that a trainer has taken after a step.
std::map<std::string, std::int64_t> taken(const std::string& name, Dtype dtype,
                                          std::int64_t micro_batch) {
  const auto workload = make_workload(name, "tiny", 1);
  TrainerOptions options;
  options.recipe = workload->recipe();
  options.recipe.micro_batch = micro_batch;
  options.lanes = 2;
  options.dtype = dtype;
  options.steps = 1;
  const auto group = make_self_group();
  Trainer trainer(
      *workload, options, [](Dtype type) { return host_kernels(type); }, *group);
  RunObserver observer;
  std::map<std::string, std::int64_t> bytes;
  for (const MemoryUse& use : trainer.run(observer).memory) bytes[use.label] = use.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("the memory that a training needs by its plans is what it takes, by label") {
  const std::pair<const char*, Dtype> trainings[] = {
      {"llm", Dtype::f32},  {"llm", Dtype::bf16},   {"two_tower", Dtype::f32},
      {"grpo", Dtype::f32}, {"detect", Dtype::f32}, {"image", Dtype::bf16},
      {"hstu", Dtype::f32}, {"rgat", Dtype::f32}};
  for (const auto& [name, dtype] : trainings) {
    const auto workload = make_workload(name, "tiny", 1);
    const BatchSplit split = split_batch(workload->recipe().batch, 1, 2, 2, 4);
    const MemoryNeed need = memory_need(*workload, split, dtype, false);
    const auto bytes = taken(name, dtype, 4);
    INFO(name << " " << to_string(dtype));
    for (const MemoryUse& use : need.uses) {
      INFO(use.label);
      CHECK(bytes.at(use.label) == use.bytes);
    }
    CHECK(need.total() > need.largest().bytes);
  }
}

TEST_CASE("the memory of an exchange of less has its residual, or its outer state") {
  const auto workload = make_workload("llm", "tiny", 1);
  const auto bytes_of = [&](const ExchangeMethod& method, const char* label) -> std::int64_t {
    for (const MemoryUse& use :
         memory_need(*workload, {.micro_batch = 4}, Dtype::f32, false, {}, {}, method).uses)
      if (use.label == label) return use.bytes;
    return 0;
  };
  const std::int64_t row = bytes_of({}, "gradients");
  CHECK(bytes_of({}, "residual") == 0);
  CHECK(bytes_of({.kind = ExchangeKind::powersgd}, "residual") == row);
  CHECK(bytes_of({.kind = ExchangeKind::local}, "outer_state") == 2 * row);
  CHECK(bytes_of({}, "exchange") == 0);
  CHECK(bytes_of({.kind = ExchangeKind::local}, "exchange") == 0);
}

TEST_CASE("the largest micro-batch is one below the first that does not fit") {
  const auto workload = make_workload("llm", "tiny", 1);
  const auto need = [&](std::int64_t samples) {
    return static_cast<double>(
        memory_need(*workload, {.lanes = 2, .micro_batch = samples}, Dtype::f32, false).total());
  };
  const auto largest = [&](double bytes) {
    return largest_micro_batch(*workload, 2, Dtype::f32, false, bytes);
  };
  CHECK(largest(need(1) - 1.0) == 0);
  CHECK(largest(need(1)) == 1);
  CHECK(largest(need(7)) == 7);
  CHECK(largest(need(8) - 1.0) == 7);
  CHECK(largest(need(40)) == 40);
  CHECK(largest(need(47)) == 40);  // above 16 a multiple of 8
}

}  // namespace bench::training
