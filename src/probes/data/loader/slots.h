// Memory for finished batches, had and touched before anything is timed: the first touch of a page
// costs more than all that a loader does with it later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {
class Copies;
class PageLock;
}  // namespace bench

namespace bench::data {

struct SlotsWish {
  std::size_t slots = 1;
  std::size_t bytes = 0;       // of a batch
  std::size_t samples = 0;     // of a batch
  std::vector<int> cpus = {};  // on which they are touched first, which decides on their node
  bool locked = false;         // kept in memory
  Copies* copies = nullptr;    // of the device that they are locked for; null: of none
};

class Slots {
 public:
  /// Throws Error(environment) where the memory cannot be had.
  explicit Slots(const SlotsWish& wish);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::size_t size() const { return labels_.size(); }
  std::span<std::byte> data(std::size_t slot) const { return {memory_ + slot * stride_, bytes_}; }
  std::span<std::int64_t> labels(std::size_t slot) { return labels_[slot]; }
  /// Why the memory was not locked though it should be; "" else.
  const std::string& obstacle() const { return obstacle_; }

 private:
  void lock(Copies* copies);

  std::size_t bytes_, stride_, all_;
  std::byte* memory_ = nullptr;
  std::vector<std::vector<std::int64_t>> labels_;
  std::unique_ptr<PageLock> lock_;
  std::string obstacle_;
};

}  // namespace bench::data
