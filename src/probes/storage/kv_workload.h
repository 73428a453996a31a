// What users of a language model ask of a store for attention keys and values (a KV cache): the
// sizes, the conversations and the mix of reads and writes.
//
// Users, tokens and reads are those of the KV cache benchmark of MLPerf Storage 3.0 (mlcommons/
// storage, kv_cache_benchmark: config.yaml, workload.py and benchmark.py), in which every user
// issues the next request as soon as the last one has its data, which is what a store that cannot
// keep up makes of it. Left out: its look-up of a system prompt, which never finds one, and think
// times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/names.h"

namespace bench::storage {

/// A model by the bytes of keys and values that each token needs.
struct KvModel {
  const char* name;
  std::uint64_t bytes_per_token;
};
/// layers x KV heads x head dimension x 2 (key and value) x 2 bytes, from the models' config.json;
/// DeepSeek-V3 keeps a latent vector of 512 + 64 numbers a layer instead.
inline constexpr KvModel kKvModels[] = {
    {"llama3.1-8b", 32 * 8 * 128 * 4}, {"llama3.1-70b", 80 * 8 * 128 * 4},
    {"llama2-7b", 32 * 32 * 128 * 4},  {"mistral-7b", 32 * 8 * 128 * 4},
    {"qwen3-32b", 64 * 8 * 128 * 4},   {"gpt-oss-20b", 24 * 8 * 64 * 4},
    {"gpt-oss-120b", 36 * 8 * 64 * 4}, {"deepseek-v3", 61 * (512 + 64) * 2},
};
/// Throws Error(input) for an unknown name.
const KvModel& kv_model(const std::string& name);

/// mlperf: each request writes its context's entry, reads those of all earlier turns of the
/// conversation once, and its own one once more for every 32 tokens that it generates.
/// restore: each request reads the entries of all earlier turns once and writes that of its own
/// turn, the tokens it generated included, as an inference server with a cache of prefixes does.
enum class KvMix { mlperf, restore };
inline constexpr NameTable<KvMix, 2> kKvMixes{
    {{{KvMix::mlperf, "mlperf"}, {KvMix::restore, "restore"}}}};

/// A request: one turn of a conversation.
struct KvTurn {
  int conversation = 0;  // of its user, from 0
  int turn = 0;          // of its conversation, from 0
  int context_tokens = 0;
  int generated_tokens = 0;

  /// Tokens whose keys and values are written.
  int written_tokens(KvMix mix) const;
  /// How often its own entry is read after it was written.
  int own_reads(KvMix mix) const;
};

/// One user: the same numbers give the same requests. A third of the users are chat bots, a third
/// write code, a third ask about documents.
class KvUser {
 public:
  KvUser(std::uint64_t seed, int number);

  KvTurn next();
  /// Whether the next request continues the conversation of the last one.
  bool converses() const { return last_.turn >= 0 && !ended_; }

 private:
  std::uint64_t bits();
  int between(int low, int high);  // both included

  std::uint64_t key_, drawn_ = 0;
  int context_ = 0, generated_ = 0;  // the longest of this user's
  KvTurn last_ = {.conversation = 0, .turn = -1};
  bool ended_ = false;
};

}  // namespace bench::storage
