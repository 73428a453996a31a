// Documents in random order when they are larger than the memory: in two passes over files. The
// first reads the documents in order and appends each to a bucket drawn at random; the second reads
// one bucket after another, orders its documents by numbers drawn for them, and writes them behind
// those of the buckets before. A document's bucket and number follow from seed and index, so the
// order is the same for any number of threads.
//
// In memory are one block of documents and the ends of all buckets in the first pass, up to sixteen
// buckets in the second, and where each document begins (8 bytes a document) in both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "probes/preprocessing/token_documents.h"
#include "training/engine/worker_pool.h"

namespace bench::preprocessing {

/// Files that are open at once.
inline constexpr std::uint64_t kMostBuckets = 512;

/// So many that sixteen of them, read and ordered, fit into `memory`, of documents with so many
/// bytes of tokens in all.
std::uint64_t buckets_for(std::uint64_t bytes, std::uint64_t documents, std::uint64_t memory);

class FileShuffle {
 public:
  /// Writes the documents to a file in the folder, which must exist and outlive this. What waits to
  /// be appended to buckets has up to `memory` bytes, but 4 KiB for each thread and bucket. Throws
  /// Error(environment) where that fails, as does run().
  FileShuffle(const TokenDocuments& documents, const std::filesystem::path& folder,
              std::uint64_t buckets, std::uint64_t seed, int threads, std::uint64_t memory);
  ~FileShuffle();
  FileShuffle(const FileShuffle&) = delete;
  FileShuffle& operator=(const FileShuffle&) = delete;

  /// From the file of documents to a file of shuffled ones that is on the device (fdatasync).
  void run(std::int64_t calls);
  /// Drops the file of documents from the page cache, and damages what the last run left, so that a
  /// call that does nothing is found. Returns the share that is still in the page cache.
  double prepare();

  // Of the last run:
  /// Reads the shuffled file.
  TokenDocuments shuffled() const;
  const std::vector<std::uint64_t>& order() const;

 private:
  struct Files;
  struct Bucket;
  void distribute();
  void arrange();
  void distribute_part(std::uint64_t first, std::uint64_t end,
                       std::vector<std::vector<std::byte>>& waiting);
  void arrange_bucket(std::size_t number);

  std::vector<std::uint64_t> begins_;
  std::filesystem::path input_path_;
  std::uint64_t seed_;
  std::uint64_t waiting_bytes_;  // of a thread's part of a bucket, before they are written
  training::WorkerPool pool_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<Files> files_;
  std::vector<std::uint64_t> order_ = {};
};

}  // namespace bench::preprocessing
