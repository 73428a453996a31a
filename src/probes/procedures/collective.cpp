// Collective operations over the group's ranks, swept over message sizes inside one job. Sizes and
// bus bandwidth are defined as nccl-tests defines them (its PERFORMANCE.md): `size_bytes` is the
// larger of a rank's send and receive buffer, algbw = size / time, busbw = algbw x the factor of
// the operation.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/error.h"
#include "probes/group.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

// Buffers rotate through this much memory, so that a call does not find its data in a cache because
// the call before used the same addresses.
constexpr std::size_t kRotateBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxSlots = 4096;
constexpr std::size_t kSlotAlignment = 64;
constexpr std::size_t kPage = 2 << 20;

/// What an operation moves, by the ranks n.
struct Shape {
  bool send_is_total;  // send holds n parts
  bool recv_is_total;  // recv holds n parts
  double bus_factor;   // busbw / algbw
};

Shape shape_of(CollectiveOp op, int ranks) {
  const double n = ranks;
  switch (op) {
    case CollectiveOp::all_reduce:
      return {false, false, 2 * (n - 1) / n};
    case CollectiveOp::all_gather:
      return {false, true, (n - 1) / n};
    case CollectiveOp::reduce_scatter:
      return {true, false, (n - 1) / n};
    case CollectiveOp::all_to_all:
      return {true, true, (n - 1) / n};
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
    case CollectiveOp::send_recv:
      return {false, false, 1.0};
  }
  return {false, false, 1.0};
}

/// Small integers whose sum over any number of ranks we can have is exact in every dtype: the check
/// asks for equality. They depend on rank, place and size, so that nothing stale can pass.
double element(std::uint64_t seed, int rank, std::size_t index) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) + 1) + index;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>((x >> 40) % 8);
}

struct FreeDeleter {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kPage}); }
};
using Memory = std::unique_ptr<std::byte[], FreeDeleter>;

Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kPage})));
}

/// One operation at one size: its buffers' slots, its data and its check.
template <class T>
class Exchange {
 public:
  Exchange(CollectiveOp op, Dtype dtype, std::size_t size_bytes, bool in_place, bool rotate,
           Group& group, std::uint64_t seed, std::byte* send, std::byte* recv)
      : op_(op),
        dtype_(dtype),
        shape_(shape_of(op, group.size())),
        group_(group),
        seed_(seed ^ (size_bytes * 0x2545f4914f6cdd1du)),
        in_place_(in_place),
        send_(send),
        recv_(recv) {
    const auto ranks = static_cast<std::size_t>(group.size());
    const bool parts = shape_.send_is_total || shape_.recv_is_total;
    count_ = size_bytes / sizeof(T) / (parts ? ranks : 1);
    sent_ = count_ * (shape_.send_is_total ? ranks : 1);
    received_ = count_ * (shape_.recv_is_total ? ranks : 1);
    slot_bytes_ = (std::max(sent_, received_) * sizeof(T) + kSlotAlignment - 1) / kSlotAlignment *
                  kSlotAlignment;
    slots_ = rotate ? std::clamp<std::size_t>(kRotateBytes / slot_bytes_, 1, kMaxSlots) : 1;
    reset(0);
    for (std::size_t slot = 1; slot < slots_; ++slot) copy_slot(slot);
  }

  std::size_t size_bytes() const { return std::max(sent_, received_) * sizeof(T); }
  double bus_factor() const { return shape_.bus_factor; }
  bool empty() const { return count_ == 0; }

  void run(std::int64_t calls) {
    for (std::int64_t call = 0; call < calls; ++call) {
      slot_ = (slot_ + 1) % slots_;
      group_.collectives()->run(op_, send_at(slot_), recv_at(slot_), count_, dtype_);
    }
  }

  /// In place the input is overwritten: give the next slot its data back.
  void restore_next() { reset((slot_ + 1) % slots_); }

  /// How many elements of the last call's output differ from what they must be.
  double wrong() const {
    const T* out = recv_at(slot_);
    double count = 0;
    if (!defined_here()) return 0.0;
    for (std::size_t i = 0; i < received_; ++i)
      if (!(out[i] == static_cast<T>(expected(i)))) ++count;
    return count;
  }

 private:
  T* recv_at(std::size_t slot) const { return reinterpret_cast<T*>(recv_ + slot * slot_bytes_); }

  T* send_at(std::size_t slot) const {
    if (!in_place_) return reinterpret_cast<T*>(send_ + slot * slot_bytes_);
    const bool own_part = shape_.recv_is_total && !shape_.send_is_total;
    return recv_at(slot) + (own_part ? static_cast<std::size_t>(group_.rank()) * count_ : 0);
  }

  /// Poisons the output, then writes the input (in place they overlap, so in that order).
  void reset(std::size_t slot) {
    std::memset(static_cast<void*>(recv_at(slot)), 0xff, std::max(sent_, received_) * sizeof(T));
    T* in = send_at(slot);
    for (std::size_t i = 0; i < sent_; ++i)
      in[i] = static_cast<T>(element(seed_, group_.rank(), i));
  }

  /// Every slot holds the same data: the memory differs, and that is what rotation is for.
  void copy_slot(std::size_t slot) {
    std::memcpy(recv_ + slot * slot_bytes_, recv_, slot_bytes_);
    if (!in_place_) std::memcpy(send_ + slot * slot_bytes_, send_, slot_bytes_);
  }

  /// Reduce leaves its result at the root only; a broadcast's root has nothing to receive.
  bool defined_here() const {
    if (op_ == CollectiveOp::reduce) return group_.rank() == 0;
    if (op_ == CollectiveOp::broadcast) return group_.rank() != 0;
    return true;
  }

  double expected(std::size_t i) const {
    const int n = group_.size();
    const int rank = group_.rank();
    const auto own = static_cast<std::size_t>(rank) * count_;
    switch (op_) {
      case CollectiveOp::all_reduce:
      case CollectiveOp::reduce:
        return sum(i);
      case CollectiveOp::reduce_scatter:
        return sum(own + i);
      case CollectiveOp::all_gather:
        return element(seed_, static_cast<int>(i / count_), i % count_);
      case CollectiveOp::all_to_all:
        return element(seed_, static_cast<int>(i / count_), own + i % count_);
      case CollectiveOp::broadcast:
        return element(seed_, 0, i);
      case CollectiveOp::send_recv:
        return element(seed_, (rank + n - 1) % n, i);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  double sum(std::size_t i) const {
    double total = 0.0;
    for (int rank = 0; rank < group_.size(); ++rank) total += element(seed_, rank, i);
    return total;
  }

  CollectiveOp op_;
  Dtype dtype_;
  Shape shape_;
  Group& group_;
  std::uint64_t seed_;
  bool in_place_;
  std::byte* send_;
  std::byte* recv_;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  std::size_t slot_bytes_ = 0;
  std::size_t slots_ = 1;
  std::size_t slot_ = 0;
};

Timing timing_from(const std::string& name) {
  if (name == "pipelined") return Timing::pipelined;
  if (name == "osu") return Timing::osu;
  return Timing::isolated;
}

struct Sweep {
  CollectiveOp op;
  Dtype dtype;
  bool in_place;
  std::string timing;
  std::byte* send;
  std::byte* recv;
};

template <class T>
void measure_size(State& state, const Sweep& sweep, std::size_t size_bytes) {
  Exchange<T> exchange(sweep.op, sweep.dtype, size_bytes, sweep.in_place,
                       state.flag("rotate") && sweep.timing == "isolated", state.group(),
                       state.job().seed, sweep.send, sweep.recv);
  if (exchange.empty()) return;  // fewer bytes than one element for each rank
  const auto bytes = static_cast<double>(exchange.size_bytes());
  Measurement m;
  m.params = {{"op", to_string(sweep.op)},
              {"dtype", to_string(sweep.dtype)},
              {"size_bytes", exchange.size_bytes()},
              {"in_place", sweep.in_place},
              {"timing", sweep.timing}};
  m.work = [&](std::int64_t calls) { exchange.run(calls); };
  m.reports = {{"latency"}, {"algbw", bytes}, {"busbw", bytes * exchange.bus_factor()}};
  m.verify = [&] { return Check{"exact sum of integers", exchange.wrong(), 0.0}; };
  if (sweep.in_place) m.before_sample = [&] { exchange.restore_next(); };
  m.timing = timing_from(sweep.timing);
  m.calls = 1;
  state.measure(m);
}

std::vector<std::size_t> sizes(const State& state) {
  const auto first = static_cast<std::size_t>(state.integer("min_bytes"));
  const auto last = static_cast<std::size_t>(state.integer("max_bytes"));
  const auto factor = static_cast<std::size_t>(state.integer("factor"));
  std::vector<std::size_t> all;
  for (std::size_t size = first; size <= last; size *= factor) all.push_back(size);
  return all;
}

void measure_sweep(State& state, const Sweep& sweep) {
  for (std::size_t size : sizes(state)) {
    switch (sweep.dtype) {
      case Dtype::f64:
        measure_size<double>(state, sweep, size);
        break;
      case Dtype::int32:
        measure_size<std::int32_t>(state, sweep, size);
        break;
      case Dtype::int64:
        measure_size<std::int64_t>(state, sweep, size);
        break;
      default:
        measure_size<float>(state, sweep, size);
    }
  }
}

bool has_in_place(CollectiveOp op) {
  return op != CollectiveOp::broadcast && op != CollectiveOp::send_recv;
}

void run_collective(State& state) {
  if (state.group().size() < 2) return state.skip("needs at least two ranks");
  if (state.group().collectives() == nullptr) return state.skip("this build has no MPI");
  const auto offset = static_cast<std::size_t>(state.integer("offset_bytes"));
  const std::size_t bytes =
      std::max(kRotateBytes, static_cast<std::size_t>(state.integer("max_bytes"))) +
      kMaxSlots * kSlotAlignment + offset;
  const Memory send = allocate(bytes);
  const Memory recv = allocate(bytes);
  const std::string timing = state.text("timing");
  for (const std::string& op_name : state.list<std::string>("ops")) {
    const CollectiveOp op = collective_op_from(op_name);
    for (const std::string& dtype : state.list<std::string>("dtypes")) {
      for (const std::string& placement : state.list<std::string>("placements")) {
        const bool in_place = placement == "in_place";
        const Json params = {
            {"op", op_name}, {"dtype", dtype}, {"in_place", in_place}, {"timing", timing}};
        if (in_place && !has_in_place(op)) {
          state.skip_series("latency", params, op_name + " has no in-place form in MPI");
        } else if (in_place && timing != "isolated") {
          state.skip_series("latency", params,
                            "in place is measured in isolated timing only: calls back to back "
                            "would sum their own results");
        } else {
          measure_sweep(state, {op, dtype_from(dtype), in_place, timing, send.get() + offset,
                                recv.get() + offset});
        }
      }
    }
  }
}

const Registration registration{{
    .name = "collective",
    .summary = "collective operations over all ranks, swept over message sizes",
    .metrics = {{"latency", Unit::second, Better::lower},
                {"algbw", Unit::byte_per_second, Better::higher},
                {"busbw", Unit::byte_per_second, Better::higher}},
    .run = run_collective,
}};

}  // namespace
}  // namespace bench
