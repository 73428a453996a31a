#include "probes/shared/device_load.h"

#include "devices/copies.h"
#include "devices/memory.h"
#include "probes/shared/gemm_check.h"
#include "probes/shared/thread_counts.h"

namespace bench {
namespace {

/// A plan and the hash of the product that it must repeat.
struct RepeatedProduct {
  std::unique_ptr<GemmPlan> plan;
  Check first;
  std::uint64_t hash = 0;
  bool watched = false;  // by the device: each product, where the host fetches the last of a sample

  Check verify() const {
    const Check quick = watched ? quick_check() : first;
    if (!quick.passed()) return quick;
    const bool same = hash_of(plan->result()) == hash;
    return {method(), same ? 0.0 : 1.0, 0.0};
  }
  Check quick_check() const {
    if (!watched) return verify();
    if (!first.passed()) return first;
    return {method(), static_cast<double>(plan->different()), 0.0};
  }
  std::string method() const {
    return watched ? "bitwise equality of every GEMM with the first"
                   : "bitwise equality with the first GEMM";
  }
};

Pages largest_pages(const MemorySystem& memory) {
  return memory.no_huge_pages().empty() ? Pages::huge : Pages::small;
}

Stores passing_caches(const MemorySystem& memory) {
  return memory.no_nontemporal().empty() ? Stores::nontemporal : Stores::plain;
}

/// A triad over memory far past the last cache.
LoadOffer memory_load(State& state, double bytes, int threads) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return {{}, "no memory streams on this device"};
  if (bytes > memory->available_bytes() / 2) return {{}, "less than twice size_bytes is free"};
  const std::shared_ptr<MemoryArrays> arrays =
      memory->arrays({.bytes = bytes, .threads = threads, .pages = largest_pages(*memory)});
  const StreamAmount amount = arrays->prepare({.kernel = MemoryKernel::triad,
                                               .stores = passing_caches(*memory),
                                               .bytes = bytes,
                                               .threads = threads});
  return {DeviceLoad{.metric = "memory_rate",
                     .amount = amount.payload,
                     .work = [arrays](std::int64_t calls) { arrays->run(calls); },
                     .verify = [arrays] { return arrays->verify(); }},
          ""};
}

/// Pinned copies to the device and back at once.
LoadOffer copy_load(State& state, std::size_t bytes) {
  Copies* copies = state.device().copies();
  if (copies == nullptr) return {{}, "the device shares host memory: nothing to copy"};
  CopyRequest request;
  request.route = CopyRoute::both;
  request.bytes = bytes;
  CopyOffer offer = copies->prepare(request);
  if (!offer.run) return {{}, offer.reason};
  const std::shared_ptr<CopyRun> run = std::move(offer.run);
  return {DeviceLoad{.metric = "copy_rate",
                     .amount = 2.0 * static_cast<double>(bytes),
                     .work = [run](std::int64_t calls) { run->run(calls); },
                     .verify = [run] { return run->verify(); }},
          ""};
}

}  // namespace

LoadOffer gemm_load(State& state, Dtype dtype, const GemmShape& shape, int threads) {
  Gemm* gemm = state.device().gemm();
  if (gemm == nullptr) return {{}, "no GEMM library for this device"};
  GemmOffer offer = gemm->prepare({.dtype = dtype, .shape = shape, .threads = threads});
  if (!offer.plan) return {{}, offer.reason};
  const auto product = std::make_shared<RepeatedProduct>();
  product->plan = std::move(offer.plan);
  const Matrices data = make_matrices(shape, dtype, MatrixValues::random, state.job().seed);
  load(*product->plan, data);
  product->plan->clear();
  product->plan->run(1);
  const std::vector<std::byte> c = product->plan->result();
  product->first = check_product(data, product->plan->output(), c);
  product->hash = hash_of(c);
  product->watched = product->first.passed() && product->plan->watch();
  return {DeviceLoad{.metric = "gemm_rate",
                     .amount = shape.operations(),
                     .work = [product](std::int64_t calls) { product->plan->run(calls); },
                     .verify = [product] { return product->verify(); },
                     .quick_check = [product] { return product->quick_check(); },
                     .clock = [product] { return product->plan->clock(); }},
          ""};
}

LoadOffer named_load(State& state, const std::string& name) {
  const auto bytes = state.integer("size_bytes");
  const int threads = thread_count(state, static_cast<int>(state.integer("threads")));
  if (name == "memory") return memory_load(state, static_cast<double>(bytes), threads);
  if (name == "copy") return copy_load(state, static_cast<std::size_t>(bytes));
  const auto shape = state.list<std::int64_t>("shape");
  return gemm_load(state, dtype_from(state.text("dtype")), {shape.at(0), shape.at(1), shape.at(2)},
                   threads);
}

}  // namespace bench
