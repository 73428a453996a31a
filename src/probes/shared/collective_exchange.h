// One collective operation at one size: its buffers, its input and its expected result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench {

/// The buffers of a sweep, and the offset of the first slot.
struct ExchangeBuffers {
  CollectiveMemory& send;
  CollectiveMemory& recv;
  std::size_t offset = 0;
};

struct ExchangeRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  Dtype dtype = Dtype::f32;
  std::size_t size_bytes = 0;  // the larger of a rank's send and receive buffer
  bool in_place = false;
  bool rotate = false;  // through Collectives::rotation_bytes(), past the caches
  std::uint64_t seed = 0;
};

class Exchange {
 public:
  Exchange(const ExchangeRequest& request, Group& group, Collectives& collectives,
           ExchangeBuffers buffers);

  /// The size is less than one element per rank: there is nothing to do.
  bool empty() const { return count_ == 0; }
  std::size_t size_bytes() const;
  /// busbw / algbw as nccl-tests defines it.
  double bus_factor() const { return shape_.bus_factor; }

  /// After record(n) this replays recordings: `calls` is then a multiple of n.
  void run(std::int64_t calls);
  /// Records this many calls, which run() replays from then on.
  void record(std::int64_t calls);
  /// In-place operations overwrite the input: restores that of the next slot.
  void restore_next() { reset(recorded_ ? slot_ : (slot_ + 1) % slots_); }
  /// The number of wrong elements in the last call's output.
  double wrong();

  /// The buffer size for sweeps up to `max_bytes`.
  static std::size_t buffer_bytes(const Collectives& collectives, std::size_t max_bytes,
                                  std::size_t offset);
  /// Whether sums over so many ranks are exact in the type.
  static bool exact(Dtype dtype, int ranks);

 private:
  void run_directly(std::int64_t calls);
  /// What an operation moves.
  struct Shape {
    bool send_is_total;  // send holds a part for each rank
    bool recv_is_total;
    double bus_factor;
  };
  static Shape shape_of(CollectiveOp op, int ranks);

  std::size_t slot_at(std::size_t slot) const { return buffers_.offset + slot * slot_bytes_; }
  void reset(std::size_t slot);
  bool defined_here() const;
  double input(int rank, std::size_t index) const;
  double expected(std::size_t index) const;
  double sum(std::size_t index) const;

  const ExchangeRequest request_;
  Group& group_;
  Collectives& collectives_;
  ExchangeBuffers buffers_;
  const Shape shape_;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  std::size_t slot_bytes_ = 0;
  std::size_t slots_ = 1;
  std::size_t slot_ = 0;
  std::unique_ptr<RecordedOperations> recorded_;
  std::int64_t recorded_calls_ = 0;
  std::size_t own_part_ = 0;         // offset of a rank's input in an in-place output
  std::byte* first_send_ = nullptr;  // of slot 0
  std::byte* first_recv_ = nullptr;
  std::vector<std::byte> input_;
  std::vector<std::byte> poison_;
};

}  // namespace bench
