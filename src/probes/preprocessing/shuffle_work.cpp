#include "probes/preprocessing/shuffle_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "probes/shared/permutation.h"

namespace bench::preprocessing {
namespace {

constexpr std::size_t kFewestMoved = 16;
constexpr std::size_t kSpoiledStep = 1024;  // tokens: one of each page

}  // namespace

ShuffleWork::ShuffleWork(const TokenDocuments& documents, std::uint64_t seed, int threads)
    : documents_(documents),
      seed_(seed),
      pool_(threads),
      order_(documents.size()),
      part_tokens_(static_cast<std::size_t>(threads)) {
  shuffled_.tokens.resize(documents.tokens.size());
  shuffled_.begins.resize(documents.size() + 1);
}

void ShuffleWork::run(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) run_once();
}

void ShuffleWork::spoil() {
  std::ranges::fill(order_, documents_.size());
  std::ranges::fill(shuffled_.begins, 0);
  for (std::size_t t = 0; t < shuffled_.tokens.size(); t += kSpoiledStep)
    shuffled_.tokens[t] = tokenizer::kMostTokens;
}

void ShuffleWork::run_once() {
  const auto threads = static_cast<std::size_t>(pool_.size());
  const std::size_t count = documents_.size();
  const auto first_of = [&](std::size_t thread) { return count * thread / threads; };
  const Permutation random(count, seed_);
  pool_.run([&](int t) {
    const auto thread = static_cast<std::size_t>(t);
    std::uint64_t tokens = 0;
    for (std::size_t place = first_of(thread); place < first_of(thread + 1); ++place) {
      const std::uint64_t document = order_[place] = random.at(place);
      tokens += documents_.begins[document + 1] - documents_.begins[document];
    }
    part_tokens_[thread] = tokens;
  });
  std::uint64_t before = 0;
  for (std::uint64_t& tokens : part_tokens_) before += std::exchange(tokens, before);
  pool_.run([&](int t) {
    const auto thread = static_cast<std::size_t>(t);
    std::uint64_t at = part_tokens_[thread];
    for (std::size_t place = first_of(thread); place < first_of(thread + 1); ++place) {
      const std::uint64_t begin = documents_.begins[order_[place]];
      const std::uint64_t length = documents_.begins[order_[place] + 1] - begin;
      shuffled_.begins[place] = at;
      std::memcpy(shuffled_.tokens.data() + at, documents_.tokens.data() + begin,
                  length * sizeof(TokenId));
      at += length;
    }
  });
  shuffled_.begins[count] = documents_.tokens.size();
}

std::size_t faults_of_shuffle(const TokenDocuments& documents, const TokenDocuments& shuffled,
                              const std::vector<std::uint64_t>& order) {
  const std::size_t count = documents.size();
  if (shuffled.size() != count || order.size() != count ||
      shuffled.tokens.size() != documents.tokens.size())
    return 1;
  std::size_t faults = unordered_checksum(documents) == unordered_checksum(shuffled) ? 0 : 1;
  std::vector<bool> seen(count);
  std::size_t moved = 0;
  for (std::size_t place = 0; place < count; ++place) {
    if (order[place] >= count || seen[order[place]]) {
      ++faults;
      continue;
    }
    seen[order[place]] = true;
    if (order[place] != place) ++moved;
    if (!std::ranges::equal(shuffled.document(place), documents.document(order[place]))) ++faults;
  }
  // Of few documents the drawn order may be the old one.
  if (moved == 0 && count >= kFewestMoved) ++faults;
  return faults;
}

}  // namespace bench::preprocessing
