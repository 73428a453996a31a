// Histories of users for sequential recommendation, by number: a sample is a function of (split,
// index) alone, so ranks and threads may share one source and read in any order. An event is an
// item that a user was shown at some time, and the user's action: 1 or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "training/sources/random.h"

namespace bench::training {

struct HistoryShape {
  std::int64_t events = 0;  // of a history at most
  std::int64_t items = 0;
  std::int64_t groups = 0;  // of users
};

/// One sample; all vectors have one element for each event, in the order of time.
struct History {
  std::int32_t group = 0;                  // of the user, below HistoryShape::groups
  std::vector<std::int32_t> items = {};    // below HistoryShape::items
  std::vector<std::int32_t> actions = {};  // 1 or 0
  std::vector<std::int32_t> times = {};    // from 0 on

  std::size_t length() const { return items.size(); }
};

/// Probabilities that an action is 1, given its item and what else is named, for each event.
struct HistoryTruth {
  std::vector<double> best = {};             // all earlier events: no model can know more
  std::vector<double> without_history = {};  // the user's group alone
  std::vector<double> constant_taste = {};   // all earlier events, as if the taste never changed
};

class HistorySource {
 public:
  HistorySource() = default;
  HistorySource(const HistorySource&) = delete;
  HistorySource& operator=(const HistorySource&) = delete;
  virtual ~HistorySource() = default;

  virtual const HistoryShape& shape() const = 0;
  /// Number of histories; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  virtual bool has_oracle() const = 0;
  virtual void read(Split split, std::uint64_t index, History& history) const = 0;
  /// A function of what a model may see, and of the source's law.
  virtual HistoryTruth truth(const History& history) const = 0;
};

}  // namespace bench::training
