// Ranks that are threads of the test's own process: groups and collectives as several processes
// have them, without a launcher.
#pragma once

#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.h"
#include "probes/device/collectives.h"
#include "probes/group.h"

namespace bench {

/// What ranks see of each other.
struct ThreadMeeting {
  explicit ThreadMeeting(int ranks)
      : barrier(ranks), buffers(static_cast<std::size_t>(ranks)), texts(buffers.size()) {}
  std::barrier<> barrier;
  std::vector<const void*> buffers;
  std::vector<std::string> texts;
};

/// all_to_all, all_gather and all_reduce of f32; sums are made in the order of the ranks.
class ThreadCollectives final : public Collectives {
 public:
  ThreadCollectives(ThreadMeeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    const std::size_t bytes = count * size_of(dtype), ranks = meeting_.buffers.size();
    const std::vector<std::byte> mine = copy_of(send, op, bytes);
    meeting_.buffers[static_cast<std::size_t>(rank_)] = mine.data();
    meeting_.barrier.arrive_and_wait();
    auto* out = static_cast<std::byte*>(recv);
    if (op == CollectiveOp::all_reduce) std::memset(out, 0, bytes);
    for (std::size_t from = 0; from < ranks; ++from) {
      const auto* in = static_cast<const std::byte*>(meeting_.buffers[from]);
      if (op == CollectiveOp::all_to_all)
        std::memcpy(out + from * bytes, in + static_cast<std::size_t>(rank_) * bytes, bytes);
      else if (op == CollectiveOp::all_gather)
        std::memcpy(out + from * bytes, in, bytes);
      else
        for (std::size_t i = 0; i < count; ++i)
          reinterpret_cast<float*>(out)[i] += reinterpret_cast<const float*>(in)[i];
    }
    meeting_.barrier.arrive_and_wait();
  }

 private:
  std::vector<std::byte> copy_of(const void* send, CollectiveOp op, std::size_t bytes) const {
    const std::size_t all = op == CollectiveOp::all_to_all ? meeting_.buffers.size() : 1;
    std::vector<std::byte> mine(bytes * all);
    if (!mine.empty()) std::memcpy(mine.data(), send, mine.size());
    return mine;
  }
  ThreadMeeting& meeting_;
  int rank_;
};

class ThreadGroup final : public Group {
 public:
  ThreadGroup(ThreadMeeting& meeting, int rank)
      : meeting_(meeting), rank_(rank), collectives_(meeting, rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_.buffers.size()); }
  void barrier() override { meeting_.barrier.arrive_and_wait(); }
  void broadcast(std::span<std::byte> data, int root) override {
    meet(data.data(), [&](std::size_t from, const void* theirs) {
      if (static_cast<int>(from) == root && root != rank_)
        std::memcpy(data.data(), theirs, data.size());
    });
  }
  void max(std::span<double> values) override {
    combine(values, [](double a, double b) { return a > b ? a : b; });
  }
  void sum(std::span<double> values) override {
    combine(values, [](double a, double b) { return a + b; });
  }
  std::vector<std::string> gather(const std::string& text) override {
    meeting_.texts[static_cast<std::size_t>(rank_)] = text;
    barrier();
    const std::vector<std::string> all = rank_ == 0 ? meeting_.texts : std::vector<std::string>{};
    barrier();
    return all;
  }
  Collectives* collectives() override { return &collectives_; }
  std::string library() const override { return "threads"; }

 private:
  template <class Look>
  void meet(const void* mine, const Look& look) {
    meeting_.buffers[static_cast<std::size_t>(rank_)] = mine;
    barrier();
    for (std::size_t from = 0; from < meeting_.buffers.size(); ++from)
      look(from, meeting_.buffers[from]);
    barrier();
  }
  template <class Combine>
  void combine(std::span<double> values, const Combine& combine) {
    const std::vector<double> mine(values.begin(), values.end());
    meet(mine.data(), [&](std::size_t from, const void* theirs) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double other = static_cast<const double*>(theirs)[i];
        values[i] = from == 0 ? other : combine(values[i], other);
      }
    });
  }

  ThreadMeeting& meeting_;
  int rank_;
  ThreadCollectives collectives_;
};

/// work(group) on so many ranks at once. A rank that throws ends the program: the others wait for
/// it. What a test checks, it checks after.
inline void on_thread_ranks(int ranks, const std::function<void(Group&)>& work) {
  ThreadMeeting meeting(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      ThreadGroup group(meeting, rank);
      work(group);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace bench
