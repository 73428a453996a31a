// The offline stages of text: a corpus to token IDs, documents in random order, documents packed
// into sequences. Each stage is a job of its own; the later ones tokenise first, untimed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/sha256.h"
#include "core/text.h"
#include "devices/memory.h"
#include "probes/preprocessing/corpus.h"
#include "probes/preprocessing/file_shuffle.h"
#include "probes/preprocessing/generated_text.h"
#include "probes/preprocessing/new_file.h"
#include "probes/preprocessing/packing.h"
#include "probes/preprocessing/shuffle_work.h"
#include "probes/preprocessing/token_output.h"
#include "probes/preprocessing/tokenize_work.h"
#include "probes/probe.h"
#include "probes/shared/memory_sizes.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"
#include "probes/storage/work_folder.h"
#include "tokenizer/bpe_training.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/utf8.h"

namespace bench {
namespace {

using namespace preprocessing;

constexpr const char* kTokenizerFile = "tokenizer.json";
constexpr const char* kTextFile = "text.jsonl";
constexpr std::size_t kTrainedBytes = 4u << 20;  // of text, for a vocabulary of our own
// Read and written. A plain store reads its line before, but memcpy avoids that for large copies.
constexpr double kStreamsOfCopy = 2.0;
constexpr double kStreamsOnFiles = 3.0;  // documents, buckets, shuffled

Corpus corpus_of(const State& state) {
  const auto bytes = static_cast<std::uint64_t>(state.integer("text_bytes"));
  if (const std::string data = state.text("data"); !data.empty()) return read_corpus(data, bytes);
  if (bytes == 0)
    throw Error(ErrorKind::input, "text_bytes is 0, and no data is named",
                "set text_bytes to the bytes of text to generate");
  return generated_corpus(bytes, state.job().seed);
}

/// Documents from the first on, up to so many bytes; the last may be cut.
std::vector<std::string_view> beginning_of(const Corpus& corpus, std::size_t bytes) {
  std::vector<std::string_view> documents;
  for (std::size_t i = 0; i < corpus.size() && corpus.begins[i] < bytes; ++i) {
    const std::string_view document = corpus.document(i);
    documents.push_back(
        document.substr(0, tokenizer::cut_of_utf8(document, bytes - corpus.begins[i])));
  }
  return documents;
}

constexpr const char* kTrainedPattern = "cl100k_base";

tokenizer::TokenizerSpec spec_of(const State& state, const Corpus& corpus) {
  const std::string file = state.text("tokenizer"), pattern = state.text("pattern");
  if (!file.empty()) return tokenizer::read_tokenizer(file, pattern);
  return tokenizer::train_bpe(
      beginning_of(corpus, kTrainedBytes),
      {.vocabulary = static_cast<tokenizer::TokenId>(state.integer("vocabulary")),
       .pattern = tokenizer::named_pattern(pattern.empty() ? kTrainedPattern : pattern)});
}

std::string name_of_file(const std::string& path, const std::string& none) {
  return path.empty() ? none : std::filesystem::path(path).filename().string();
}

/// Enough of a SHA-256 to keep series of different texts and tokenizers apart.
std::string short_digest(const std::string& sha256) { return sha256.substr(0, 12); }

/// Of all that decides how texts are encoded.
std::string digest_of(const tokenizer::TokenizerSpec& spec) {
  Sha256 digest;
  const auto number = [&](std::uint64_t value) { digest.update(std::to_string(value) + ","); };
  const auto text = [&](const std::string& value) {
    number(value.size());
    digest.update(value);
  };
  number(spec.tokens.size());
  for (const std::string& token : spec.tokens) text(token);
  number(spec.merges.size());
  for (const tokenizer::Merge& merge : spec.merges)
    for (const std::uint64_t value : {merge.left, merge.right, merge.result, merge.rank})
      number(value);
  number(spec.whole_pieces ? 1 : 0);
  number(spec.patterns.size());
  for (const std::string& pattern : spec.patterns) text(pattern);
  for (const tokenizer::AddedToken& token : spec.added) {
    number(token.id);
    text(token.text);
    number(token.special ? 1 : 0);
  }
  return short_digest(digest.finish());
}

/// Of the documents, and where each ends.
std::string digest_of(const Corpus& corpus) {
  Sha256 digest;
  for (const std::uint64_t begin : corpus.begins) digest.update(std::to_string(begin) + ",");
  digest.update(corpus.text);
  return short_digest(digest.finish());
}

class PreprocessingProbe {
 public:
  explicit PreprocessingProbe(State& state)
      : state_(state),
        corpus_(corpus_of(state)),
        tokenizer_(spec_of(state, corpus_), state.flag("special_tokens")
                                                ? tokenizer::Specials::as_tokens
                                                : tokenizer::Specials::as_text),
        threads_(thread_counts(state)) {
    if (MemorySystem* memory = state.device().memory()) caches_ = memory->caches();
    facts_ = {{"text", name_of_file(state.text("data"), "generated")},
              {"text_sha256", digest_of(corpus_)},
              {"text_bytes", corpus_.text.size()},
              {"documents", corpus_.size()},
              {"tokenizer", tokenizer_.spec().origin},
              {"tokenizer_sha256", digest_of(tokenizer_.spec())},
              {"vocabulary", tokenizer_.spec().size()},
              {"patterns", tokenizer_.spec().patterns},
              {"pattern_library", tokenizer::pattern_library()}};
  }

  void run() {
    const std::string stage = state_.text("stage");
    refuse_existing_outputs(stage);
    if (stage == "tokenize")
      tokenize();
    else
      work_on_documents(stage);
    write_outputs();
    state_.facts("preprocessing", facts_);
  }

 private:
  /// Of every series.
  Json params_of(int threads) const {
    const std::string file = state_.text("tokenizer"), pattern = state_.text("pattern");
    return {{"text", facts_.at("text")},
            {"text_bytes", facts_.at("text_bytes")},
            {"text_sha256", facts_.at("text_sha256")},
            {"tokenizer", name_of_file(file, "trained")},
            {"tokenizer_sha256", facts_.at("tokenizer_sha256")},
            // Not "pattern": that is a storage parameter, by which limits are looked up.
            {"split_pattern", !pattern.empty() ? pattern
                              : file.empty()   ? kTrainedPattern
                                               : "of the tokenizer"},
            {"special_tokens", state_.flag("special_tokens")},
            {"vocabulary", facts_.at("vocabulary")},
            {"threads", threads}};
  }

  std::filesystem::path output_folder() const { return state_.text("output"); }

  bool writes_tokenizer() const { return state_.text("tokenizer").empty(); }
  bool writes_text() const { return state_.text("data").empty(); }

  /// Before anything is measured or written.
  void refuse_existing_outputs(const std::string& stage) const {
    if (output_folder().empty()) return;
    if (writes_tokenizer()) refuse_existing(output_folder() / kTokenizerFile);
    if (writes_text()) refuse_existing(output_folder() / kTextFile);
    if (stage != "pack") return;
    for (const auto& packing : state_.list<std::string>("packings"))
      for (const char* file : {kTrainingFile, kEvaluationFile})
        refuse_existing(output_folder() / packing / file);
  }

  void write_outputs() {
    if (output_folder().empty()) return;
    if (writes_tokenizer()) {
      NewFile file(output_folder() / kTokenizerFile);
      file.write(tokenizer::tokenizer_json(tokenizer_.spec()));
      file.finish();
    }
    if (writes_text()) write_corpus(output_folder() / kTextFile, corpus_);
  }

  void tokenize() {
    const ReferenceBpe reference(tokenizer_.spec());
    std::optional<std::uint64_t> expected;
    for (const int threads : threads_) {
      TokenizeWork work(tokenizer_, corpus_, threads);
      work.run(1);
      if (!expected) {
        expected = work.checksum();
        describe(work, threads);
      }
      measure_tokens(work, reference, *expected, threads);
      measure_pieces(work, threads);
    }
  }

  void describe(const TokenizeWork& work, int threads) {
    facts_["ids_sha256"] = work.sha256_of_ids();
    facts_["tokens"] = work.tokens();
    const tokenizer::PieceCounts counts = work.counts();
    const auto share = [&](std::uint64_t part) {
      return static_cast<double>(part) /
             static_cast<double>(std::max<std::uint64_t>(counts.pieces, 1));
    };
    facts_["pieces"] = {{"threads", threads},
                        {"cached_share", share(counts.cached)},
                        {"whole_share", share(counts.whole)},
                        {"merged_share", share(counts.merged)}};
    Json params = params_of(threads);
    params.erase("threads");
    state_.value("bytes_per_token",
                 static_cast<double>(corpus_.text.size()) / static_cast<double>(work.tokens()),
                 params);
  }

  void measure_tokens(TokenizeWork& work, const ReferenceBpe& reference, std::uint64_t expected,
                      int threads) {
    std::size_t changed = 0;
    Measurement m;
    m.params = params_of(threads);
    m.before_sample = [&] {
      changed += work.checksum() == expected ? 0 : 1;
      work.spoil();
    };
    m.work = [&](std::int64_t calls) { work.run(calls); };
    m.reports = {{"text_rate", static_cast<double>(corpus_.text.size())},
                 {"token_rate", static_cast<double>(work.tokens())}};
    m.verify = [&] {
      changed += work.checksum() == expected ? 0 : 1;
      const TokenizeWork::Comparison compared =
          work.compare(reference, static_cast<std::size_t>(state_.integer("checked_documents")),
                       state_.job().seed);
      facts_["compared_pieces"] = compared.pieces;
      const std::size_t differing = compared.differing + (compared.pieces == 0 ? 1 : 0);
      return Check{"decoded, repeated, and encoded by a reference",
                   static_cast<double>(changed + work.undecodable() + differing), 0.0};
    };
    m.threads = threads;
    state_.measure(m);
  }

  void measure_pieces(TokenizeWork& work, int threads) {
    Measurement m;
    m.params = params_of(threads);
    m.before_sample = [&] { work.spoil(); };
    m.work = [&](std::int64_t calls) { work.split(calls); };
    m.reports = {{"split_rate", static_cast<double>(corpus_.text.size())}};
    m.verify = [&] {
      return Check{"pieces that together are the text", static_cast<double>(work.unsplit()), 0.0};
    };
    m.threads = threads;
    state_.measure(m);
  }

  void work_on_documents(const std::string& stage) {
    const std::optional<TokenId> end = tokenizer_.spec().end_of_text();
    TokenDocuments documents;
    {
      TokenizeWork work(tokenizer_, corpus_, state_.device().cores());
      work.run(1);
      documents = work.documents(end);
    }
    facts_["tokens"] = documents.tokens.size();
    facts_["end_of_text"] = end ? Json(*end) : Json();
    if (stage == "shuffle")
      shuffle(documents);
    else
      pack(documents, end.value_or(0));
  }

  void shuffle(const TokenDocuments& documents) {
    for (const auto& where : state_.list<std::string>("shuffles")) {
      std::optional<std::uint64_t> expected;
      for (const int threads : threads_) {
        if (where == "memory")
          shuffle_in_memory(documents, threads, expected);
        else
          shuffle_on_files(documents, threads, expected);
      }
    }
  }

  /// `expected`: the order-dependent checksum of the first series, which all others must have.
  static Check check_shuffle(const TokenDocuments& documents, const TokenDocuments& shuffled,
                             const std::vector<std::uint64_t>& order,
                             std::optional<std::uint64_t>& expected) {
    std::size_t faults = faults_of_shuffle(documents, shuffled, order);
    const std::uint64_t sum = tokens_checksum(shuffled.tokens);
    if (!expected) expected = sum;
    if (sum != *expected) ++faults;
    return {"each document once, in the same order for all threads", static_cast<double>(faults),
            0.0};
  }

  void shuffle_in_memory(const TokenDocuments& documents, int threads,
                         std::optional<std::uint64_t>& expected) {
    ShuffleWork work(documents, state_.job().seed, threads);
    const auto bytes = static_cast<double>(documents.bytes());
    Measurement m;
    m.params = params_of(threads);
    m.params["documents_in"] = "memory";
    m.params["level"] = memory_level(caches_, 2.0 * bytes, threads);
    std::optional<Limit> limit = state_.known_limit("traffic", m.params);
    if (limit) limit->value /= kStreamsOfCopy;
    m.before_sample = [&] { work.spoil(); };
    m.work = [&](std::int64_t calls) { work.run(calls); };
    m.reports = {{"shuffle_rate", bytes, limit}, {"traffic", kStreamsOfCopy * bytes}};
    m.verify = [&] { return check_shuffle(documents, work.shuffled(), work.order(), expected); };
    m.threads = threads;
    state_.measure(m);
  }

  void shuffle_on_files(const TokenDocuments& documents, int threads,
                        std::optional<std::uint64_t>& expected) {
    Json params = params_of(threads);
    params["documents_in"] = "files";
    const auto memory = static_cast<std::uint64_t>(state_.integer("memory_bytes"));
    const std::uint64_t buckets = buckets_for(documents.bytes(), documents.size(), memory);
    if (buckets > kMostBuckets)
      return state_.skip_series(
          "shuffle_rate", params,
          fmt::format("needs {} files for {} of tokens in {} of memory, and opens up to {}; set "
                      "memory_bytes to more",
                      buckets, format(Bytes{static_cast<double>(documents.bytes())}),
                      format(Bytes{static_cast<double>(memory)}), kMostBuckets));
    const auto base = storage::folder_or_default(state_.text("path"));
    const auto bytes = static_cast<double>(documents.bytes());
    const std::string no_room = storage::no_space(base, storage::file_system_of(base),
                                                  kStreamsOnFiles * bytes, "documents");
    if (!no_room.empty()) return state_.skip_series("shuffle_rate", params, no_room);
    params["buckets"] = buckets;
    params["path"] = state_.text("path");
    const storage::WorkFolder folder(base, storage::job_token(state_.group()));
    FileShuffle work(documents, folder.path(), buckets, state_.job().seed, threads, memory);
    double resident = 0.0;
    Measurement m;
    m.params = params;
    Json written = params;
    written.update({{"pattern", "sequential_write"}, {"access", "buffered"}});
    m.calls = 1;  // each begins with documents that are not in the page cache
    m.before_sample = [&] { resident = std::max(resident, work.prepare()); };
    m.work = [&](std::int64_t calls) { work.run(calls); };
    m.reports = {{"shuffle_rate", bytes, state_.known_limit("shuffle_rate", written)}};
    m.verify = [&] { return check_shuffle(documents, work.shuffled(), work.order(), expected); };
    m.threads = threads;
    state_.measure(m);
    facts_["cached_input_share"] = resident;
  }

  void pack(const TokenDocuments& documents, TokenId padding) {
    const auto length = static_cast<std::uint64_t>(state_.integer("sequence"));
    ShuffleWork shuffled(documents, state_.job().seed, state_.device().cores());
    shuffled.run(1);
    for (const auto& name : state_.list<std::string>("packings")) {
      const Packing packing = kPackings.value(name, "packing");
      for (const int threads : threads_) {
        PackWork work(shuffled.shuffled(), packing, length, padding, threads);
        if (!output_folder().empty()) require_sequences(work.sequences(), length);
        Json params = params_of(threads);
        params["packing"] = name;
        params["sequence"] = length;
        Measurement m;
        m.params = params;
        m.before_sample = [&] { work.spoil(); };
        m.work = [&](std::int64_t calls) { work.run(calls); };
        m.reports = {{"pack_rate", static_cast<double>(documents.tokens.size())}};
        m.verify = [&] {
          return Check{"each token once and in order", static_cast<double>(work.faults()), 0.0};
        };
        m.threads = threads;
        state_.measure(m);
        if (threads == threads_.front()) finish_packing(work, name, length, std::move(params));
      }
    }
  }

  void finish_packing(const PackWork& work, const std::string& name, std::uint64_t length,
                      Json params) {
    params.erase("threads");
    state_.value("sequences", static_cast<double>(work.sequences()), params);
    state_.value("padding_share", work.padding_share(), params);
    state_.value("cut_share", work.cut_share(), params);
    if (!output_folder().empty())
      write_token_files(output_folder() / name, work.packed(), length, tokenizer_.spec().size(),
                        state_.job().seed);
  }

  State& state_;
  Corpus corpus_;
  tokenizer::Tokenizer tokenizer_;
  std::vector<int> threads_;
  std::vector<CacheLevel> caches_ = {};
  Json facts_ = {};
};

/// Text as read or made, room for an ID of four bytes for each of its bytes, and documents of
/// tokens up to three times.
constexpr double kMemoryPerByte = 16.0;

/// Why there is too little memory for the text; "" if there is enough.
std::string no_memory(State& state) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return "";
  auto bytes = static_cast<double>(state.integer("text_bytes"));
  if (const std::string data = state.text("data"); !data.empty()) {
    std::error_code error;
    const auto size = static_cast<double>(std::filesystem::file_size(data, error));
    if (error) return "";  // reading it will say why
    bytes = bytes > 0.0 ? std::min(bytes, size) : size;
  }
  const double need = kMemoryPerByte * bytes, available = memory->available_bytes();
  if (need <= available) return "";
  return fmt::format("{} of text need about {} of memory, and {} are available; set text_bytes",
                     format(Bytes{bytes}), format(Bytes{need}), format(Bytes{available}));
}

void run_preprocessing(State& state) {
  if (const std::string none = tokenizer::why_no_patterns(); !none.empty()) return state.skip(none);
  if (state.group().size() > 1) return state.skip("texts are prepared on one rank; set ranks to 1");
  if (const std::string none = no_memory(state); !none.empty()) return state.skip(none);
  PreprocessingProbe(state).run();
}

const Registration preprocessing_probe{"preprocessing", run_preprocessing};

}  // namespace
}  // namespace bench
