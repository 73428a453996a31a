// Hostile tokenizer files, and texts for them: refused with an Error, or any text comes back from
// its tokens. An input is a file, a line of 0x1e bytes, and a text; without the line it is both.
#include <cstdint>
#include <string>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "tokenizer/rank_file.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_file.h"

using bench::fuzz::demand;
using namespace bench;

namespace {

void try_spec(const tokenizer::TokenizerSpec& spec, const std::string& text) {
  for (const auto specials : {tokenizer::Specials::as_text, tokenizer::Specials::as_tokens}) {
    const tokenizer::Tokenizer made(spec, specials);
    tokenizer::Encoder encoder(made);
    const auto ids = encoder.encode(text);
    demand(ids.size() <= text.size(), "more tokens than bytes");
    demand(made.decode(ids) == text, "a text that does not come back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find("\n\x1e\n");
  const std::string file = input.substr(0, line);
  const std::string text = line == std::string::npos ? input : input.substr(line + 3);
  if (!tokenizer::why_no_patterns().empty()) return 0;
  fuzz::may_refuse([&] {
    const tokenizer::TokenizerSpec spec = tokenizer::parse_tokenizer_json(file, "fuzz");
    try_spec(spec, text);
    fuzz::must_accept("a file as written", [&] {
      tokenizer::parse_tokenizer_json(tokenizer::tokenizer_json(spec), "again");
    });
  });
  for (const char* pattern : {"gpt2", "o200k_base"})
    fuzz::may_refuse([&] { try_spec(tokenizer::parse_rank_file(file, pattern, "fuzz"), text); });
  return 0;
}
