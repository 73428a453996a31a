// Documents in random order, in memory: the order is drawn, then each thread copies a part of the
// documents to their new places. The order follows from seed and number of documents alone, so it
// is the same for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/preprocessing/token_documents.h"
#include "training/engine/worker_pool.h"

namespace bench::preprocessing {

class ShuffleWork {
 public:
  /// The documents are borrowed.
  ShuffleWork(const TokenDocuments& documents, std::uint64_t seed, int threads);

  void run(std::int64_t calls);
  /// Damages what the last run left, so that a call that does nothing is found.
  void spoil();

  // Of the last run:
  const TokenDocuments& shuffled() const { return shuffled_; }
  TokenDocuments& shuffled() { return shuffled_; }
  /// The document at each place.
  const std::vector<std::uint64_t>& order() const { return order_; }

 private:
  void run_once();

  const TokenDocuments& documents_;
  std::uint64_t seed_;
  training::WorkerPool pool_;
  TokenDocuments shuffled_ = {};
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> part_tokens_;  // of each thread's part
};

/// What is wrong with `shuffled` as a random order of `documents`: documents lost or repeated,
/// places whose tokens are not those of the document that `order` names, or no document moved
/// although there are 16 or more. 0 for nothing.
std::size_t faults_of_shuffle(const TokenDocuments& documents, const TokenDocuments& shuffled,
                              const std::vector<std::uint64_t>& order);

}  // namespace bench::preprocessing
