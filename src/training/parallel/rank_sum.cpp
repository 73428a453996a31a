#include "training/parallel/rank_sum.h"

#include <cstring>
#include <memory>
#include <utility>

#include "devices/collectives.h"
#include "devices/host_clock.h"
#include "training/engine/gradient_blocks.h"
#include "training/engine/graph.h"

namespace bench::training {
namespace {

/// Of all lanes of a rank, which work in one thread.
struct Buffers {
  MemoryBlock received = {}, padded = {};
};

class RankSum final : public RankKernels {
 public:
  RankSum(Group& group, ElementwiseKernels& elementwise, std::shared_ptr<Buffers> buffers)
      : group_(group), elementwise_(elementwise), buffers_(std::move(buffers)) {}

  void sum(View x) override {
    const Spending spending(*this);
    const std::int64_t size = group_.size();
    const std::int64_t share = (x.elements() + size - 1) / size;
    const View flat{x.data, 1, x.elements(), x.dtype};
    const bool fits = share * size == x.elements();
    const View parts = fits ? flat : buffer(buffers_->padded, share * size, x.dtype);
    if (!fits) elementwise_.copy(flat, part_of(parts, 0, flat.columns), false);
    View received = buffer(buffers_->received, share * size, x.dtype);
    const auto count = static_cast<std::size_t>(share);
    Collectives& collectives = *group_.collectives();
    collectives.run(CollectiveOp::all_to_all, parts.data, received.data, count, x.dtype);
    received.rows = size;
    received.columns = share;
    const View own = part_of(parts, group_.rank() * share, share);
    elementwise_.column_sums(received, own, false);  // in the order of ranks
    collectives.run(CollectiveOp::all_gather, own.data, parts.data, count, x.dtype);
    if (!fits) elementwise_.copy(part_of(parts, 0, flat.columns), flat, false);
  }

  void gather(View own, View all) override {
    const Spending spending(*this);
    const bool fits = own.elements() * group_.size() == all.elements();
    const View to =
        fits ? all : buffer(buffers_->padded, own.elements() * group_.size(), all.dtype);
    group_.collectives()->run(CollectiveOp::all_gather, own.data, to.data,
                              static_cast<std::size_t>(own.elements()), own.dtype);
    const View flat{all.data, 1, all.elements(), all.dtype};
    if (!fits) elementwise_.copy(part_of(to, 0, flat.columns), flat, false);
  }

  void scatter_sum(View all, View own, bool add) override {
    const Spending spending(*this);
    const std::int64_t elements = own.elements() * group_.size();
    const View flat{all.data, 1, all.elements(), all.dtype};
    View from = flat;
    if (elements != flat.columns) {
      from = buffer(buffers_->padded, elements, all.dtype);
      elementwise_.copy(flat, part_of(from, 0, flat.columns), false);
      const View padding = part_of(from, flat.columns, elements - flat.columns);
      std::memset(padding.data, 0,
                  static_cast<std::size_t>(padding.columns) * size_of(padding.dtype));
    }
    View received = buffer(buffers_->received, elements, all.dtype);
    group_.collectives()->run(CollectiveOp::all_to_all, from.data, received.data,
                              static_cast<std::size_t>(own.elements()), all.dtype);
    received.rows = group_.size();
    received.columns = own.elements();
    elementwise_.column_sums(received, {own.data, 1, own.elements(), own.dtype}, add);
  }

  void send(View x, int to) override {
    const Spending spending(*this);
    group_.collectives()->send(bytes_of(x), to);
  }

  void receive(View x, int from) override {
    const Spending spending(*this);
    group_.collectives()->receive(bytes_of(x), from);
  }

  int rank() const override { return group_.rank(); }
  Seconds spent() const override { return spent_; }
  Seconds processor() const override { return processor_; }
  std::int64_t bytes() const override {
    return buffers_->received.bytes() + buffers_->padded.bytes();
  }

 private:
  class Spending {
   public:
    explicit Spending(RankSum& of) : of_(of) {}
    ~Spending() {
      of_.spent_ += steady_now() - begin_;
      of_.processor_ += cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - processor_;
    }
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;

   private:
    RankSum& of_;
    Seconds begin_ = steady_now(), processor_ = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
  };

  static View buffer(MemoryBlock& block, std::int64_t elements, Dtype dtype) {
    const auto bytes = elements * static_cast<std::int64_t>(size_of(dtype));
    if (block.bytes() < bytes) block = MemoryBlock(bytes, "parts of sums over ranks");
    return {block.data(), 1, elements, dtype};
  }

  Group& group_;
  ElementwiseKernels& elementwise_;
  std::shared_ptr<Buffers> buffers_;
  Seconds spent_, processor_;
};

}  // namespace

KernelFactory with_rank_kernels(const KernelFactory& kernels, const RankGroups& groups) {
  const auto of_tensor = std::make_shared<Buffers>(), of_copies = std::make_shared<Buffers>(),
             of_context = std::make_shared<Buffers>(), of_experts = std::make_shared<Buffers>();
  return [kernels, groups, of_tensor, of_copies, of_context, of_experts](Dtype dtype) {
    KernelSet set = kernels(dtype);
    require(set.memory->on_host(), "rank_sum", "sums over ranks need tensors in host memory");
    if (groups.tensor != nullptr)
      set.ranks = std::make_unique<RankSum>(*groups.tensor, *set.elementwise, of_tensor);
    if (groups.copies != nullptr)
      set.copies = std::make_unique<RankSum>(*groups.copies, *set.elementwise, of_copies);
    if (groups.context != nullptr)
      set.context = std::make_unique<RankSum>(*groups.context, *set.elementwise, of_context);
    if (groups.experts != nullptr)
      set.expert_ranks = std::make_unique<RankSum>(*groups.experts, *set.elementwise, of_experts);
    return set;
  };
}

}  // namespace bench::training
