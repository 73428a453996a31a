// A checkpoint that training waits for only while its state is copied: the copy is written by a
// thread of its own meanwhile. A second one has to wait until the first is written: back-pressure.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <thread>

#include "core/units.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/checkpoint_round.h"

namespace bench::storage {

/// Every rank calls every function, in the same order.
class AsyncCheckpoint {
 public:
  /// Of `state`, which is borrowed; allocates as much again. Throws Error(environment).
  AsyncCheckpoint(Group& group, const CheckpointStore& store, const CheckpointSetting& setting,
                  std::span<const std::byte> state);
  ~AsyncCheckpoint();
  AsyncCheckpoint(const AsyncCheckpoint&) = delete;
  AsyncCheckpoint& operator=(const AsyncCheckpoint&) = delete;

  struct Saved {
    Seconds stall;                  // all that training waited; the slowest rank's
    Seconds back_pressure;          // of it, for the checkpoint before
    std::optional<Seconds> former;  // how long that one took to write, where it was waited for
  };
  /// Copies the state and begins to write it.
  Saved save(std::int64_t step);

  /// At the end of a step: makes a checkpoint count that all ranks have written. What it took from
  /// the end of the copy until then, once; nothing otherwise.
  std::optional<Seconds> poll();
  /// Waits for it; nothing where none is being written.
  std::optional<Seconds> finish();

  bool writing() const { return thread_.joinable(); }

 private:
  Seconds commit();
  void stage();
  void drain();

  Group& group_;
  const CheckpointStore& store_;
  CheckpointSetting setting_;
  std::span<const std::byte> state_;
  AlignedBuffer staging_;
  std::int64_t step_ = 0;
  std::int64_t whole_ = -1;  // the last one that counts; those before are removed
  Seconds begun_ = {};
  WrittenShard shard_ = {};
  std::exception_ptr failure_ = {};
  std::atomic<bool> done_ = false;
  std::thread thread_ = {};
};

}  // namespace bench::storage
