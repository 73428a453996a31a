#include "tests/support/thread_group.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "devices/collectives.h"

namespace bench {
namespace {

/// What the ranks share.
class Meeting {
 public:
  explicit Meeting(int ranks) : sends(static_cast<std::size_t>(ranks)), size(ranks) {}

  void wait() {
    std::unique_lock lock(mutex_);
    const int turn = turn_;
    if (++arrived_ == size) {
      arrived_ = 0;
      ++turn_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn_ != turn || broken_; });
    if (turn_ == turn) throw Error(ErrorKind::interrupted, "another rank has gone");
  }
  void break_up() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

  std::vector<const void*> sends;
  const int size;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int turn_ = 0;
  bool broken_ = false;
};

class ThreadOverlap final : public Overlap {
 public:
  void run_computation(const std::function<void()>& work) override { together({}, work); }
  void together(const std::function<void()>& communicate,
                const std::function<void()>& compute) override {
    std::exception_ptr thrown;
    std::thread thread([&] {
      try {
        if (compute) compute();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
    try {
      if (communicate) communicate();
    } catch (...) {
      thread.join();
      throw;
    }
    thread.join();
    if (thrown) std::rethrow_exception(thrown);
  }
  Parts last_parts() override { return {}; }
};

/// Sums from the last rank to the first, as no rank of ours does: a library may take any order.
template <class T>
void add_up(const std::vector<const void*>& sends, std::size_t first, std::size_t count, T* sum) {
  std::fill(sum, sum + count, T{});
  for (std::size_t rank = sends.size(); rank-- > 0;)
    for (std::size_t i = 0; i < count; ++i) sum[i] += static_cast<const T*>(sends[rank])[first + i];
}

class ThreadGroup final : public Group, public Collectives {
 public:
  ThreadGroup(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_.size; }
  std::string library() const override { return "threads"; }
  Collectives* collectives() override { return this; }
  Overlap* overlap() override { return &overlap_; }
  void barrier() override { meeting_.wait(); }

  void broadcast(std::span<std::byte> data, int root) override {
    share(data.data(), [&] {
      if (rank_ != root) std::memcpy(data.data(), send(root), data.size());
    });
  }
  void max(std::span<double> values) override {
    reduce(values, [](double a, double b) { return std::max(a, b); });
  }
  void sum(std::span<double> values) override {
    reduce(values, [](double a, double b) { return a + b; });
  }
  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> texts;
    share(&text, [&] {
      for (int rank = 0; rank < size() && rank_ == 0; ++rank)
        texts.push_back(*static_cast<const std::string*>(send(rank)));
    });
    return texts;
  }

  void run(CollectiveOp op, const void* from, void* to, std::size_t count, Dtype dtype) override {
    const std::size_t part = count * size_of(dtype), own = static_cast<std::size_t>(rank_);
    auto* out = static_cast<std::byte*>(to);
    std::vector<std::byte> sum(part);
    share(from, [&] {
      if (op == CollectiveOp::all_reduce) return add(sum, 0, count, dtype);
      if (op == CollectiveOp::reduce_scatter) return add(sum, own * count, count, dtype);
      for (int rank = 0; rank < size(); ++rank) {
        std::byte* place = out + static_cast<std::size_t>(rank) * part;
        const auto* at = static_cast<const std::byte*>(send(rank));
        if (op == CollectiveOp::all_to_all) at += own * part;
        if (at != place && part > 0) std::memcpy(place, at, part);
      }
    });
    if (op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter)
      std::copy(sum.begin(), sum.end(), out);
  }

 private:
  const void* send(int rank) const { return meeting_.sends[static_cast<std::size_t>(rank)]; }
  /// Looks at what every rank sends while they all wait.
  template <class Look>
  void share(const void* own, const Look& look) {
    meeting_.sends[static_cast<std::size_t>(rank_)] = own;
    meeting_.wait();
    look();
    meeting_.wait();
  }
  template <class Join>
  void reduce(std::span<double> values, const Join& join) {
    std::vector<double> all(values.begin(), values.end());
    share(values.data(), [&] {
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<const double*>(send(0))[i];
        for (int rank = 1; rank < size(); ++rank)
          all[i] = join(all[i], static_cast<const double*>(send(rank))[i]);
      }
    });
    std::copy(all.begin(), all.end(), values.begin());
  }
  void add(std::vector<std::byte>& sum, std::size_t first, std::size_t count, Dtype dtype) const {
    if (dtype == Dtype::f64)
      add_up(meeting_.sends, first, count, reinterpret_cast<double*>(sum.data()));
    else if (dtype == Dtype::f32)
      add_up(meeting_.sends, first, count, reinterpret_cast<float*>(sum.data()));
    else
      throw Error(ErrorKind::internal, "threads sum f32 and f64 alone");
  }

  Meeting& meeting_;
  int rank_;
  ThreadOverlap overlap_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Group&)>& work) {
  Meeting meeting(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadGroup group(meeting, rank);
        work(group);
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
        meeting.break_up();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace bench
