#include "probes/inference/trained_llm.h"

#include <algorithm>
#include <vector>

#include "training/sources/grammar.h"
#include "training/workloads/token_samples.h"

namespace bench {

inference::ParameterValues values_of(const TrainedModel& llm) {
  return [&llm](const std::string& name, std::span<float> to) {
    const std::vector<float>& from = llm.parameters.at(name);
    training::require(from.size() == to.size(), "trained llm", name + " has another size");
    std::ranges::copy(from, to.begin());
  };
}

std::unique_ptr<training::TokenSource> language_of(const training::LlmShape& shape,
                                                   std::uint64_t seed) {
  return std::make_unique<training::GrammarSource>(
      training::GrammarOptions{.vocabulary = static_cast<int>(shape.vocabulary),
                               .targets = static_cast<int>(shape.sequence),
                               .seed = seed});
}

training::Quality quality_of(inference::Decoder& decoder, std::span<const int> blocks,
                             const training::TokenSource& language, std::int64_t sequences,
                             Group& group) {
  const std::int64_t targets = language.targets();
  const std::int64_t part = std::min({targets, decoder.most_rows(), decoder.most_wanted()});
  training::TokenGaps gaps(language);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(targets + 1));
  std::vector<double> losses(static_cast<std::size_t>(targets));
  for (std::int64_t i = 0; i < sequences; ++i) {
    language.read(training::Split::evaluation, static_cast<std::uint64_t>(i), {tokens});
    for (std::int64_t first = 0; first < targets; first += part) {
      const std::int64_t count = std::min(part, targets - first);
      const inference::DecoderInput input{
          std::span(tokens).subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(count)),
          first, blocks, count};
      decoder.pass(std::span(&input, 1));
      for (std::int64_t t = 0; t < count; ++t) {
        const auto at = static_cast<std::size_t>(first + t);
        losses[at] = -decoder.log_probability(t, tokens[at + 1]);
      }
    }
    gaps.add(losses.data(), static_cast<std::uint64_t>(i), 1);
  }
  gaps.sum(group);
  return gaps.quality();
}

}  // namespace bench
