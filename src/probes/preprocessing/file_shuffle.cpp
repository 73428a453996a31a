#include "probes/preprocessing/file_shuffle.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "core/page_cache.h"
#include "probes/storage/storage_file.h"

namespace bench::preprocessing {
namespace {

using storage::Access;
using storage::OpenFor;
using storage::StorageFile;

constexpr std::uint64_t kPartBytes = 1u << 20;  // read at once in the first pass
constexpr std::uint64_t kLeastWaiting = 1u << 12, kMostWaiting = 1u << 16;
constexpr std::uint64_t kBucketsAtOnce = 16;

/// A document in a bucket's file; its tokens follow.
struct BucketRecord {
  std::uint64_t document;
  std::uint64_t tokens;
};

/// A document in memory, with the number by which it is ordered.
struct Drawn {
  std::uint64_t key, document;
  std::span<const std::byte> tokens;
};

// Of a document, next to its tokens that are in memory twice.
constexpr std::uint64_t kOverheadBytes = (sizeof(BucketRecord) * 2 + sizeof(Drawn)) / 2;

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::uint64_t buckets_for(std::uint64_t bytes, std::uint64_t documents, std::uint64_t memory) {
  bytes += documents * kOverheadBytes;
  const std::uint64_t each = std::max<std::uint64_t>(memory / (2 * kBucketsAtOnce), 1);
  return std::max<std::uint64_t>((bytes + each - 1) / each, 2);
}

struct FileShuffle::Bucket {
  std::unique_ptr<StorageFile> file;
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> documents{0};
  std::uint64_t first_place = 0, first_token = 0;  // in the shuffled file
};

struct FileShuffle::Files {
  StorageFile input, output;
};

FileShuffle::FileShuffle(const TokenDocuments& documents, const std::filesystem::path& folder,
                         std::uint64_t buckets, std::uint64_t seed, int threads,
                         std::uint64_t memory)
    : begins_(documents.begins),
      input_path_(folder / "documents"),
      seed_(seed),
      waiting_bytes_(std::clamp(memory / (static_cast<std::uint64_t>(threads) * buckets),
                                kLeastWaiting, kMostWaiting)),
      pool_(threads),
      buckets_(buckets),
      files_(new Files{{input_path_, Access::buffered, OpenFor::writing_anew},
                       {folder / "shuffled", Access::buffered, OpenFor::writing_anew}}),
      order_(documents.size()) {
  files_->input.write(std::as_bytes(std::span(documents.tokens)), 0);
  files_->input.sync();
  for (std::size_t b = 0; b < buckets_.size(); ++b)
    buckets_[b].file = std::make_unique<StorageFile>(folder / fmt::format("bucket-{}", b),
                                                     Access::buffered, OpenFor::writing_anew);
}

FileShuffle::~FileShuffle() = default;

void FileShuffle::run(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) {
    for (Bucket& bucket : buckets_) bucket.bytes = bucket.documents = 0;
    distribute();
    arrange();
    files_->output.sync();
  }
}

double FileShuffle::prepare() {
  std::ranges::fill(order_, order_.size());
  const TokenId wrong = tokenizer::kMostTokens;
  if (begins_.back() > 0) files_->output.write(std::as_bytes(std::span(&wrong, 1)), 0);
  return evict(input_path_);
}

void FileShuffle::distribute() {
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t count = begins_.size() - 1;
  // Parts by documents, so that a thread claims one with a single addition.
  const std::uint64_t bytes = std::max<std::uint64_t>(begins_.back() * sizeof(TokenId), 1);
  const std::uint64_t step = std::max<std::uint64_t>(count * kPartBytes / bytes, 1);
  pool_.run([&](int) {
    std::vector<std::vector<std::byte>> waiting(buckets_.size());
    for (;;) {
      const std::uint64_t first = next.fetch_add(step, std::memory_order_relaxed);
      if (first >= count) break;
      distribute_part(first, std::min(first + step, count), waiting);
    }
    for (std::size_t b = 0; b < waiting.size(); ++b)
      buckets_[b].file->write(waiting[b], buckets_[b].bytes.fetch_add(waiting[b].size()));
  });
}

void FileShuffle::distribute_part(std::uint64_t first, std::uint64_t end,
                                  std::vector<std::vector<std::byte>>& waiting) {
  std::vector<TokenId> tokens(begins_[end] - begins_[first]);
  files_->input.read(std::as_writable_bytes(std::span(tokens)), begins_[first] * sizeof(TokenId));
  for (std::uint64_t i = first; i < end; ++i) {
    const auto document =
        std::span(tokens).subspan(begins_[i] - begins_[first], begins_[i + 1] - begins_[i]);
    const std::size_t number = random_bits(seed_, i) % buckets_.size();
    Bucket& bucket = buckets_[number];
    std::vector<std::byte>& bytes = waiting[number];
    const BucketRecord record{i, document.size()};
    append(bytes, std::as_bytes(std::span(&record, 1)));
    append(bytes, std::as_bytes(document));
    bucket.documents.fetch_add(1, std::memory_order_relaxed);
    if (bytes.size() < waiting_bytes_) continue;
    bucket.file->write(bytes, bucket.bytes.fetch_add(bytes.size()));
    bytes.clear();
  }
}

void FileShuffle::arrange() {
  std::uint64_t place = 0, token = 0;
  for (Bucket& bucket : buckets_) {
    bucket.first_place = place;
    bucket.first_token = token;
    place += bucket.documents;
    token += (bucket.bytes - bucket.documents * sizeof(BucketRecord)) / sizeof(TokenId);
  }
  std::atomic<std::size_t> next{0};
  pool_.run([&](int thread) {
    if (static_cast<std::uint64_t>(thread) >= kBucketsAtOnce) return;
    for (;;) {
      const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
      if (number >= buckets_.size()) break;
      arrange_bucket(number);
    }
  });
}

void FileShuffle::arrange_bucket(std::size_t number) {
  const Bucket& bucket = buckets_[number];
  std::vector<std::byte> bytes(bucket.bytes);
  bucket.file->read(bytes, 0);
  std::vector<Drawn> drawn;
  drawn.reserve(bucket.documents);
  for (std::size_t at = 0; at < bytes.size();) {
    BucketRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    at += sizeof(record);
    const std::size_t size = record.tokens * sizeof(TokenId);
    if (size > bytes.size() - at)
      throw Error(ErrorKind::internal, "a bucket of documents ends within one");
    drawn.push_back({random_bits(seed_ + 1, record.document), record.document,
                     std::span<const std::byte>(bytes).subspan(at, size)});
    at += size;
  }
  // Threads append to a bucket in any order.
  std::ranges::sort(drawn, {}, [](const Drawn& d) { return std::pair(d.key, d.document); });
  std::vector<std::byte> arranged;
  arranged.reserve(bytes.size());
  std::uint64_t place = bucket.first_place;
  for (const Drawn& document : drawn) {
    append(arranged, document.tokens);
    order_[place++] = document.document;
  }
  files_->output.write(arranged, bucket.first_token * sizeof(TokenId));
}

TokenDocuments FileShuffle::shuffled() const {
  TokenDocuments all;
  all.tokens.resize(begins_.back());
  files_->output.read(std::as_writable_bytes(std::span(all.tokens)), 0);
  for (const std::uint64_t document : order_) {
    if (document >= order_.size()) break;  // no run since prepare()
    all.begins.push_back(all.begins.back() + begins_[document + 1] - begins_[document]);
  }
  return all;
}

const std::vector<std::uint64_t>& FileShuffle::order() const { return order_; }

}  // namespace bench::preprocessing
