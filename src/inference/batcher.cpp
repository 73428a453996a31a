#include "inference/batcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/names.h"
#include "inference/prompt_lookup.h"

namespace bench::inference {
namespace {

constexpr NameTable<Batching, 2> kBatchings{
    {{{Batching::continuous, "continuous"}, {Batching::fixed, "static"}}}};

}  // namespace

std::string_view to_string(Batching batching) { return kBatchings.name(batching); }
Batching batching_named(std::string_view name) { return kBatchings.value(name, "batching"); }

Batcher::Batcher(Decoder& decoder, PagedCache& cache, const BatchOptions& options)
    : decoder_(decoder), options_(options), cache_blocks_(cache.blocks()), blocks_(cache.blocks()) {
  const std::int64_t rows = options.most_sequences * (1 + options.drafted);
  if (options.most_sequences < 1 || options.drafted < 0 || rows > decoder.most_wanted())
    throw Error(ErrorKind::input,
                fmt::format("{} sequences with drafts of {} tokens need {} rows of a pass, which "
                            "has {}",
                            options.most_sequences, options.drafted, rows, decoder.most_wanted()),
                "allow fewer sequences or shorter drafts");
}

void Batcher::submit(TextRequest request) {
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const std::int64_t all = prompt + request.answer_tokens;
  const std::int64_t most = std::min(decoder_.model().shape.sequence, cache_blocks_ * kCacheTokens);
  if (prompt < 1 || request.answer_tokens < 1 || all > most)
    throw Error(
        ErrorKind::input,
        fmt::format("a prompt of {} tokens and an answer of {} do not fit into {} positions",
                    prompt, request.answer_tokens, most),
        "both need at least one token; shorten them, or enlarge the cache");
  waiting_.push_back(std::move(request));
}

void Batcher::clear() {
  for (const Sequence& sequence : running_) release(sequence.blocks);
  running_.clear();
  waiting_.clear();
}

void Batcher::release(const std::vector<int>& blocks) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) blocks_.release(*block);
}

bool Batcher::place(Sequence& sequence) {
  const auto prompt = static_cast<std::int64_t>(sequence.request.prompt.size());
  CacheBlocks::Prefix prefix;
  if (options_.reuse_prefixes) prefix = blocks_.find(sequence.request.prompt);
  const std::int64_t more = cache_blocks(prompt + sequence.request.answer_tokens) -
                            static_cast<std::int64_t>(prefix.blocks.size());
  if (more > blocks_.available()) {
    release(prefix.blocks);
    return false;
  }
  sequence.kept = static_cast<std::int64_t>(prefix.blocks.size());
  sequence.known = sequence.kept * kCacheTokens;
  sequence.content = prefix.content;
  sequence.blocks = std::move(prefix.blocks);
  for (std::int64_t i = 0; i < more; ++i) sequence.blocks.push_back(blocks_.take());
  sequence.tokens = sequence.request.prompt;
  counts_.prompt_tokens += prompt;
  counts_.reused_tokens += sequence.known;
  return true;
}

void Batcher::admit() {
  if (options_.batching == Batching::fixed && !running_.empty()) return;
  while (!waiting_.empty() &&
         static_cast<std::int64_t>(running_.size()) < options_.most_sequences) {
    Sequence sequence;
    sequence.request = std::move(waiting_.front());
    if (!place(sequence)) {
      waiting_.front() = std::move(sequence.request);
      return;
    }
    waiting_.pop_front();
    running_.push_back(std::move(sequence));
  }
}

/// Tokens of all sequences that answer, then as much of prompts as there is room for.
void Batcher::plan() {
  parts_.clear();
  std::int64_t room = decoder_.most_rows();
  for (Sequence& one : running_) {
    if (one.in_prompt()) continue;
    Part part{&one, {one.tokens.back()}, true};
    const auto draft = looked_up(one.tokens, std::min(options_.drafted, one.left() - 1));
    part.tokens.insert(part.tokens.end(), draft.begin(), draft.end());
    room -= static_cast<std::int64_t>(part.tokens.size());
    parts_.push_back(std::move(part));
  }
  for (Sequence& one : running_) {
    if (!one.in_prompt() || room == 0) continue;
    const auto prompt = static_cast<std::int64_t>(one.request.prompt.size());
    const std::int64_t count = std::min(room, prompt - one.known);
    const auto from = one.tokens.begin() + one.known;
    parts_.push_back({&one, {from, from + count}, one.known + count == prompt});
    room -= count;
  }
}

std::vector<TextProgress> Batcher::step() {
  admit();
  plan();
  inputs_.clear();
  for (const Part& part : parts_) {
    const auto count = static_cast<std::int64_t>(part.tokens.size());
    const std::int64_t wanted = !part.answers ? 0 : part.sequence->in_prompt() ? 1 : count;
    inputs_.push_back({part.tokens, part.sequence->known, part.sequence->blocks, wanted});
    counts_.rows += count;
    counts_.decoded += part.sequence->in_prompt() ? 0 : 1;
  }
  std::vector<TextProgress> all;
  if (parts_.empty()) return all;
  ++counts_.passes;
  counts_.sequences += static_cast<std::int64_t>(parts_.size());
  std::span<const std::int32_t> chosen = decoder_.pass(inputs_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto wanted = static_cast<std::size_t>(inputs_[i].wanted);
    TextProgress progress{.id = parts_[i].sequence->request.id};
    advance(parts_[i], chosen.first(wanted), progress);
    chosen = chosen.subspan(wanted);
    if (!progress.tokens.empty()) all.push_back(std::move(progress));
  }
  std::erase_if(running_, [](const Sequence& one) { return one.blocks.empty(); });
  return all;
}

/// A token of the draft counts if the model chose it; the first that differs is replaced by the
/// model's, so that the answer is that of decoding token by token.
void Batcher::advance(const Part& part, std::span<const std::int32_t> chosen,
                      TextProgress& progress) {
  Sequence& one = *part.sequence;
  if (one.in_prompt()) {
    one.known += static_cast<std::int64_t>(part.tokens.size());
    progress.tokens.assign(chosen.begin(), chosen.end());
  } else {
    std::size_t right = 0;
    while (right + 1 < part.tokens.size() && part.tokens[right + 1] == chosen[right]) ++right;
    one.known += static_cast<std::int64_t>(right) + 1;
    counts_.drafted += static_cast<std::int64_t>(part.tokens.size()) - 1;
    counts_.accepted += static_cast<std::int64_t>(right);
    progress.tokens.assign(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(right) + 1);
  }
  one.tokens.insert(one.tokens.end(), progress.tokens.begin(), progress.tokens.end());
  keep_full_blocks(one);
  if (one.left() > 0) return;
  progress.ended = true;
  release(one.blocks);
  one.blocks.clear();
}

void Batcher::keep_full_blocks(Sequence& one) {
  if (!options_.reuse_prefixes || !one.request.keep) return;
  for (; (one.kept + 1) * kCacheTokens <= one.known; ++one.kept) {
    BlockTokens tokens;
    std::copy_n(one.tokens.begin() + one.kept * kCacheTokens, kCacheTokens, tokens.begin());
    one.content = blocks_.keep(one.blocks[static_cast<std::size_t>(one.kept)], one.content, tokens);
  }
}

}  // namespace bench::inference
