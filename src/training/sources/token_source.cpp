#include "training/sources/token_source.h"

#include <fmt/format.h>

#include "core/error.h"

namespace bench::training {

void check_fits(const TokenSample& sample, int targets, bool has_oracle) {
  const auto expected = static_cast<std::size_t>(targets);
  if (sample.tokens.size() != expected + 1)
    throw Error(ErrorKind::internal, fmt::format("a sequence of {} targets has {} tokens, not {}",
                                                 targets, targets + 1, sample.tokens.size()));
  for (const std::size_t size : {sample.log_probability.size(), sample.classes.size()}) {
    if (size != 0 && size != expected)
      throw Error(ErrorKind::internal, fmt::format("{} values for {} targets", size, targets));
    if (size != 0 && !has_oracle)
      throw Error(ErrorKind::internal, "tokens from files have no known probability");
  }
}

}  // namespace bench::training
