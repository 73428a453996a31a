#include "tests/support/thread_group.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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
    for (const auto& [number, part] : parts_) part->break_up();
    for (const auto& part : earlier_parts_) part->break_up();
  }

  /// The meeting of the ranks that pass one number; broken up with this one.
  std::shared_ptr<Meeting> part(int number, int ranks) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Meeting>& part = parts_[number];
    if (!part) part = std::make_shared<Meeting>(ranks);
    return part;
  }
  /// For the next division of the ranks; those parts go on.
  void forget_parts() {
    const std::lock_guard lock(mutex_);
    for (auto& [number, part] : parts_) earlier_parts_.push_back(std::move(part));
    parts_.clear();
  }

  using Data = std::vector<std::byte>;
  void send(int from, int to, Data data) {
    const std::lock_guard lock(mutex_);
    messages_[{from, to}].push_back(std::move(data));
    changed_.notify_all();
  }
  Data receive(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<Data>& waiting = messages_[{from, to}];
    changed_.wait(lock, [&] { return !waiting.empty() || broken_; });
    if (waiting.empty()) throw Error(ErrorKind::interrupted, "another rank has gone");
    Data first = std::move(waiting.front());
    waiting.pop_front();
    return first;
  }

  std::vector<const void*> sends;
  const int size;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int turn_ = 0;
  bool broken_ = false;
  std::map<int, std::shared_ptr<Meeting>> parts_ = {};
  std::vector<std::shared_ptr<Meeting>> earlier_parts_ = {};
  std::map<std::pair<int, int>, std::deque<Data>> messages_ = {};
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
  ThreadGroup(std::shared_ptr<Meeting> meeting, int rank)
      : shared_(std::move(meeting)), meeting_(*shared_), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_.size; }
  std::string library() const override { return "threads"; }
  Collectives* collectives() override { return this; }
  Overlap* overlap() override { return &overlap_; }
  void barrier() override { meeting_.wait(); }

  std::unique_ptr<Group> subgroup(int number) override {
    const std::vector<double> numbers = gather_numbers(*this, {static_cast<double>(number)});
    const auto same = [&](double other) { return other == number; };
    const auto before = std::count_if(numbers.begin(), numbers.begin() + rank_, same);
    auto part = meeting_.part(number, static_cast<int>(std::ranges::count_if(numbers, same)));
    meeting_.wait();
    if (rank_ == 0) meeting_.forget_parts();
    meeting_.wait();
    return std::make_unique<ThreadGroup>(std::move(part), static_cast<int>(before));
  }

  bool sends_messages() const override { return true; }
  void send(std::span<const std::byte> data, int to) override {
    meeting_.send(rank_, to, {data.begin(), data.end()});
  }
  void receive(std::span<std::byte> data, int from) override {
    const Meeting::Data message = meeting_.receive(from, rank_);
    if (message.size() != data.size())
      throw Error(ErrorKind::internal, "a message has another size than expected");
    std::ranges::copy(message, data.begin());
  }

  void broadcast(std::span<std::byte> data, int root) override {
    share(data.data(), [&] {
      if (rank_ != root) std::memcpy(data.data(), sent(root), data.size());
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
        texts.push_back(*static_cast<const std::string*>(sent(rank)));
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
        const auto* at = static_cast<const std::byte*>(sent(rank));
        if (op == CollectiveOp::all_to_all) at += own * part;
        if (at != place && part > 0) std::memcpy(place, at, part);
      }
    });
    if (op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter)
      std::copy(sum.begin(), sum.end(), out);
  }

 private:
  const void* sent(int rank) const { return meeting_.sends[static_cast<std::size_t>(rank)]; }
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
        all[i] = static_cast<const double*>(sent(0))[i];
        for (int rank = 1; rank < size(); ++rank)
          all[i] = join(all[i], static_cast<const double*>(sent(rank))[i]);
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

  std::shared_ptr<Meeting> shared_;
  Meeting& meeting_;
  int rank_;
  ThreadOverlap overlap_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Group&)>& work) {
  const auto meeting = std::make_shared<Meeting>(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadGroup group(meeting, rank);
        work(group);
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
        meeting->break_up();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

}  // namespace bench
