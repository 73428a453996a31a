// Answers requests for text with one decoder: which sequences are in a pass, with which of their
// tokens, and which tokens came out. Decoding is greedy.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <string_view>
#include <vector>

#include "inference/decoder.h"

namespace bench::inference {

/// Continuous: a request joins when there is room (Orca, OSDI 2022). Fixed ("static"): a batch is
/// filled when the one before it has ended for all.
enum class Batching { continuous, fixed };
std::string_view to_string(Batching batching);
/// Throws Error(input) for a name other than "continuous" and "static".
Batching batching_named(std::string_view name);

struct BatchOptions {
  Batching batching = Batching::continuous;
  std::int64_t most_sequences = 16;
  bool reuse_prefixes = true;
  std::int64_t drafted = 0;  // tokens of a draft in each pass; 0: no speculation
};

struct TextRequest {
  std::uint64_t id = 0;
  std::vector<std::int32_t> prompt;
  std::int64_t answer_tokens = 1;
  bool keep = true;  // its blocks for later requests that begin alike
};

/// New tokens of a request.
struct TextProgress {
  std::uint64_t id = 0;
  std::vector<std::int32_t> tokens = {};
  bool ended = false;
};

class Batcher {
 public:
  /// All must outlive this. The decoder's passes must have room for a token and a draft of each
  /// sequence; throws Error(input) if not.
  Batcher(Decoder& decoder, PagedCache& cache, const BatchOptions& options);

  /// Throws Error(input) for a request that never fits: into the cache, or the model's positions.
  void submit(TextRequest request);
  /// Whether step() has nothing to do.
  bool idle() const { return waiting_.empty() && running_.empty(); }
  /// One pass over the running sequences, which new ones join first.
  std::vector<TextProgress> step();
  /// Ends and forgets all requests.
  void clear();

  struct Counts {
    std::int64_t passes = 0;
    std::int64_t sequences = 0;                         // in passes
    std::int64_t rows = 0;                              // tokens that went through the model
    std::int64_t prompt_tokens = 0, reused_tokens = 0;  // of admitted requests; in the cache before
    std::int64_t decoded = 0;  // sequences in passes that had their prompt behind them
    std::int64_t drafted = 0, accepted = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Sequence {
    TextRequest request;
    std::vector<std::int32_t> tokens = {};  // prompt and answer
    std::int64_t known = 0;                 // positions in the cache
    std::vector<int> blocks = {};
    std::int64_t kept = 0;  // of the blocks
    CacheBlocks::Content content = 0;
    std::int64_t left() const {
      return static_cast<std::int64_t>(request.prompt.size()) + request.answer_tokens -
             static_cast<std::int64_t>(tokens.size());
    }
    bool in_prompt() const { return known < static_cast<std::int64_t>(request.prompt.size()); }
  };
  struct Part {  // of a pass
    Sequence* sequence;
    std::vector<std::int32_t> tokens;
    bool answers;
  };

  void admit();
  /// False if there are not enough blocks now.
  bool place(Sequence& sequence);
  void plan();
  void advance(const Part& part, std::span<const std::int32_t> chosen, TextProgress& progress);
  void keep_full_blocks(Sequence& sequence);
  /// The last ones first, so that they are taken first: without the first ones they are of no use.
  void release(const std::vector<int>& blocks);

  Decoder& decoder_;
  BatchOptions options_;
  std::int64_t cache_blocks_;
  CacheBlocks blocks_;
  std::deque<TextRequest> waiting_ = {};
  std::list<Sequence> running_ = {};  // in the order of their admission
  std::vector<Part> parts_ = {};
  std::vector<DecoderInput> inputs_ = {};
  Counts counts_ = {};
};

}  // namespace bench::inference
