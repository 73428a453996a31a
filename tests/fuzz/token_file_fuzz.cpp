// Hostile files of tokens: refused with an Error, or every token can be read.
#include <cstdint>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "training/sources/token_file.h"

using bench::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const bench::training::TokenView tokens(bytes, "fuzz");
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < tokens.size(); ++i) sum += tokens.at(i);
  demand(tokens.size() == 0 || tokens.offset(tokens.size()) == size, "tokens that are not all");
  demand(sum <= tokens.size() * 0xffffffff, "a token that is none");
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  return 0;
}
