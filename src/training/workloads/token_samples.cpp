#include "training/workloads/token_samples.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

/// One sequence, in thread-local memory.
std::span<std::int32_t> sequence(const TokenSource& source, Split split, std::uint64_t index) {
  thread_local std::vector<std::int32_t> tokens;
  tokens.resize(static_cast<std::size_t>(source.targets()) + 1);
  source.read(split, index, {.tokens = tokens});
  return tokens;
}

}  // namespace

void read_token_samples(const TokenSource& source, Split split, std::uint64_t first,
                        const Model& model, const Lane& lane) {
  const View inputs = lane.view(model.inputs[0]), wanted = lane.view(model.inputs[1]);
  const std::int64_t length = source.targets(), own = model.context.tokens(length);
  for (std::int64_t i = 0; i < inputs.rows / own; ++i) {
    const auto tokens = sequence(source, split, first + static_cast<std::uint64_t>(i));
    std::int32_t* read = inputs.as<std::int32_t>() + i * own;
    std::int32_t* targets = wanted.as<std::int32_t>() + i * own;
    for (std::int64_t t = 0; t < own; ++t) {
      const std::int64_t at = model.context.position(length, t);
      read[t] = tokens[static_cast<std::size_t>(at)];
      targets[t] = at < source.given() ? -1 : tokens[static_cast<std::size_t>(at) + 1];
    }
  }
}

std::uint64_t token_checksum(const TokenSource& source, Split split, std::uint64_t first,
                             std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t index = first; index < first + static_cast<std::uint64_t>(count); ++index)
    sum += sample_checksum(split, index, sequence(source, split, index));
  return sum;
}

std::int64_t checked_sequence(std::int64_t full, const std::string& preset, std::int64_t asked) {
  if (asked == 0) return full;
  if (asked < 2 || asked > full)
    throw Error(ErrorKind::input,
                preset + " does not support sequences of " + std::to_string(asked) + " tokens",
                "use 2 to " + std::to_string(full) + " tokens");
  return asked;
}

TokenGaps::TokenGaps(const TokenSource& source, const ContextPart& part)
    : source_(source), part_(part) {
  const auto targets = static_cast<std::size_t>(source.targets());
  tokens_.resize(targets + 1);
  log_probability_.resize(targets);
  classes_.resize(targets);
}

void TokenGaps::add(const double* losses, std::uint64_t first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    source_.read(Split::evaluation, first + static_cast<std::uint64_t>(i),
                 {tokens_, log_probability_, classes_});
    const auto all = static_cast<std::int64_t>(classes_.size());
    for (std::int64_t own = 0; own < part_.tokens(all); ++own, ++losses) {
      const std::int64_t position = part_.position(all, own);
      if (position < source_.given()) continue;
      const auto t = static_cast<std::size_t>(position);
      Sums& sums = sums_.at(static_cast<std::size_t>(classes_[t]));
      sums[kLoss] += *losses;
      sums[kFloor] -= log_probability_[t];
      sums[kCount] += 1.0;
    }
  }
}

void TokenGaps::sum(Group& group) {
  group.sum(std::span(sums_.front().data(), sums_.size() * sums_.front().size()));
}

TokenGaps::Sums TokenGaps::all() const {
  Sums all = {};
  for (const Sums& sums : sums_)
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += sums.at(i);
  return all;
}

Quality TokenGaps::quality() const {
  const Sums sums = all();
  Quality quality;
  quality.gap = gap_of(sums);
  quality.native = sums[kLoss] / sums[kCount];
  quality.floor = sums[kFloor] / sums[kCount];
  return quality;
}

}  // namespace bench::training
