#include "probes/storage/kv_workload.h"

#include <algorithm>

#include "core/elements.h"
#include "core/error.h"

namespace bench::storage {
namespace {

struct Range {
  int low, high;
};
struct KindOfUser {
  Range context, generated;  // tokens
};
constexpr KindOfUser kKinds[] = {
    {{512, 4096}, {50, 200}},     // a chat bot
    {{4096, 25000}, {100, 500}},  // code
    {{4096, 16384}, {200, 800}},  // documents
};
constexpr int kKindCount = 3;
constexpr int kTokensPerRead = 32;       // generated between two reads of the own entry
constexpr int kLongContext = 10'000;     // tokens; such requests generate nothing here
constexpr std::uint64_t kEndsOneIn = 5;  // turns
constexpr int kMostTurns = 50;
constexpr int kLeastShare = 4;  // requests of a user have a quarter of its longest context or more

}  // namespace

const KvModel& kv_model(const std::string& name) {
  const auto* found = std::ranges::find(kKvModels, name, &KvModel::name);
  if (found != std::end(kKvModels)) return *found;
  throw Error(ErrorKind::input, "unknown model '" + name + "' of a KV cache",
              "see schemas/probes/kv_cache.json");
}

int KvTurn::written_tokens(KvMix mix) const {
  return mix == KvMix::mlperf ? context_tokens : context_tokens + generated_tokens;
}

int KvTurn::own_reads(KvMix mix) const {
  if (mix == KvMix::restore || context_tokens >= kLongContext) return 0;
  return 1 + std::max(1, (generated_tokens + kTokensPerRead - 1) / kTokensPerRead);
}

KvUser::KvUser(std::uint64_t seed, int number)
    : key_(random_bits(seed, static_cast<std::uint64_t>(number))) {
  const KindOfUser& kind = kKinds[number % kKindCount];
  context_ = between(kind.context.low, kind.context.high);
  generated_ = between(kind.generated.low, kind.generated.high);
}

std::uint64_t KvUser::bits() { return random_bits(key_, drawn_++); }

int KvUser::between(int low, int high) {
  return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

KvTurn KvUser::next() {
  if (ended_) last_ = {.conversation = last_.conversation + 1, .turn = -1};
  ++last_.turn;
  last_.context_tokens = between(std::max(1, context_ / kLeastShare), context_);
  last_.generated_tokens = between(std::max(1, generated_ / kLeastShare), generated_);
  ended_ = bits() % kEndsOneIn == 0 || last_.turn + 1 >= kMostTurns;
  return last_;
}

}  // namespace bench::storage
