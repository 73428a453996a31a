#include "probes/training/workloads/llm_data.h"

#include "core/error.h"
#include "probes/training/sources/finite.h"
#include "probes/training/sources/grammar.h"
#include "probes/training/sources/token_file.h"

namespace bench::training {
namespace {

std::unique_ptr<TokenSource> language(const LlmShape& shape, std::uint64_t seed) {
  GrammarOptions options;
  options.vocabulary = static_cast<int>(shape.vocabulary);
  options.targets = static_cast<int>(shape.sequence);
  options.seed = seed;
  return std::make_unique<GrammarSource>(options);
}

std::unique_ptr<TokenSource> token_files(const LlmShape& shape, const DataChoice& choice) {
  return std::make_unique<TokenFiles>(TokenFileOptions{.train = choice.train,
                                                       .evaluation = choice.evaluation,
                                                       .targets = static_cast<int>(shape.sequence),
                                                       .vocabulary = choice.vocabulary});
}

}  // namespace

LlmData open_llm_data(const LlmShape& shape, std::uint64_t seed, const DataChoice& choice) {
  if (choice.table_rows > 0)
    throw Error(ErrorKind::input, "workload llm has no embedding tables for table_rows",
                "remove the parameter table_rows");
  if (choice.vocabulary > 0 && !choice.from_files())
    throw Error(ErrorKind::input, "vocabulary applies only to token files, not to generated data",
                "set the parameter data to token files, or remove vocabulary");
  return LlmData::in_order<FiniteTokens>(
      choice.from_files() ? token_files(shape, choice) : language(shape, seed), choice, seed);
}

}  // namespace bench::training
