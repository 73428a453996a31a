#include "tokenizer/split_pattern.h"

#include <array>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/names.h"
#include "core/text.h"

#ifdef BENCH_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

namespace bench::tokenizer {
namespace {

enum class NamedPattern { gpt2, cl100k_base, o200k_base, llama3 };
constexpr NameTable<NamedPattern, 4> kNamedPatterns{{{{NamedPattern::gpt2, "gpt2"},
                                                      {NamedPattern::cl100k_base, "cl100k_base"},
                                                      {NamedPattern::o200k_base, "o200k_base"},
                                                      {NamedPattern::llama3, "llama3"}}}};

}  // namespace

std::string named_pattern(std::string_view name) {
  switch (kNamedPatterns.value(name, "pattern")) {
    case NamedPattern::gpt2:  // GPT-2, encoder.py
      return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    case NamedPattern::cl100k_base:  // tiktoken, openai_public.py
    case NamedPattern::llama3:       // Llama 3, tokenizer.py
      return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
             R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    case NamedPattern::o200k_base:  // tiktoken, openai_public.py
      break;
  }
  return R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
         R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
         R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
         R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
         R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

#ifdef BENCH_PCRE2

namespace {

constexpr std::size_t kLongestPattern = 1u << 16;
constexpr std::uint32_t kMostSteps = 20'000'000;  // before a pattern is given up
constexpr std::size_t kFirstStack = 1u << 15, kLargestStack = 1u << 24;

/// PCRE2's \s would also be U+180E, which has not been a blank since Unicode 6.3.
std::string with_unicode_blanks(const std::string& pattern, const std::string& origin) {
  static const std::string blanks = R"(\t-\r\x{85}\p{Z})";
  std::string changed;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's')
        changed += in_class ? blanks : "[" + blanks + "]";
      else if (next == 'S' && in_class)
        throw Error(ErrorKind::input,
                    origin + ": pattern '" + printable(pattern) + "' has \\S inside brackets",
                    "write it as a negated class with \\s");
      else if (next == 'S')
        changed += "[^" + blanks + "]";
      else
        (changed += c) += next;
      continue;
    }
    if (c == '[' && !in_class) {
      in_class = true;
      changed += c;
      // A bracket that is the first character of a class is meant as itself.
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') changed += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') changed += pattern[++i];
      continue;
    }
    if (c == ']') in_class = false;
    changed += c;
  }
  return changed;
}

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text = {};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

std::string no_patterns() { return ""; }

std::string pattern_library() {
  std::array<char, 64> version = {};
  pcre2_config(PCRE2_CONFIG_VERSION, version.data());
  return std::string("PCRE2 ") + version.data();
}

struct SplitPattern::Compiled {
  std::string pattern, origin;
  pcre2_code* code = nullptr;
  bool jit = false;

  ~Compiled() { pcre2_code_free(code); }
};

SplitPattern::SplitPattern(const std::string& pattern, const std::string& origin)
    : compiled_(std::make_unique<Compiled>()) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::input, origin + ": pattern '" + printable(pattern) + "' " + why,
                 "use a tokenizer with a pattern that PCRE2 takes");
  };
  if (pattern.size() > kLongestPattern)
    throw Error(ErrorKind::input,
                origin + ": a pattern of " + std::to_string(pattern.size()) + " bytes",
                "patterns of up to 64 KiB are supported");
  const std::string changed = with_unicode_blanks(pattern, origin);
  int error = 0;
  PCRE2_SIZE where = 0;
  compiled_->pattern = pattern;
  compiled_->origin = origin;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_parens_nest_limit(context, 64);
  compiled_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(changed.data()), changed.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &error,
                    &where, context);
  pcre2_compile_context_free(context);
  if (compiled_->code == nullptr) throw refuse("is not one: " + pcre2_message(error));
  std::uint32_t empty = 0;
  pcre2_pattern_info(compiled_->code, PCRE2_INFO_MATCHEMPTY, &empty);
  if (empty != 0) throw refuse("matches the empty text");
  // Where the kernel forbids memory that is written and executed, the interpreter does the same.
  compiled_->jit = pcre2_jit_compile(compiled_->code, PCRE2_JIT_COMPLETE) == 0;
}

SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;

struct SplitPattern::Matcher::State {
  explicit State(const Compiled& compiled)
      : pattern(compiled),
        data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr)) {
    pcre2_set_match_limit(context, kMostSteps);
    pcre2_jit_stack_assign(context, nullptr, stack);
    found = pcre2_get_ovector_pointer(data);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }

  const Compiled& pattern;
  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;
  const PCRE2_SIZE* found;
};

SplitPattern::Matcher::Matcher(const SplitPattern& pattern)
    : state_(std::make_unique<State>(*pattern.compiled_)) {}
SplitPattern::Matcher::~Matcher() = default;
SplitPattern::Matcher::Matcher(Matcher&&) noexcept = default;

SplitPattern::Found SplitPattern::Matcher::next(std::string_view text, std::size_t from) {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const State& state = *state_;
  const int code = state.pattern.jit ? pcre2_jit_match(state.pattern.code, subject, text.size(),
                                                       from, 0, state.data, state.context)
                                     : pcre2_match(state.pattern.code, subject, text.size(), from,
                                                   PCRE2_NO_UTF_CHECK, state.data, state.context);
  if (code >= 0) return {state.found[0], state.found[1]};
  if (code == PCRE2_ERROR_NOMATCH) return {text.size(), text.size()};
  throw Error(ErrorKind::input,
              state.pattern.origin + ": pattern '" + printable(state.pattern.pattern) +
                  "' failed at byte " + std::to_string(from) + " of a text of " +
                  std::to_string(text.size()) + ": " + pcre2_message(code),
              "use a pattern that decides without trying so many ways, or shorter texts");
}

#else

std::string no_patterns() { return "built without PCRE2, by which tokenizers split texts"; }
std::string pattern_library() { return ""; }

struct SplitPattern::Compiled {};
struct SplitPattern::Matcher::State {};
SplitPattern::SplitPattern(const std::string&, const std::string&) {
  throw Error(ErrorKind::environment, no_patterns(), "install libpcre2-dev and build again");
}
SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern::Matcher::Matcher(const SplitPattern&) {}
SplitPattern::Matcher::~Matcher() = default;
SplitPattern::Matcher::Matcher(Matcher&&) noexcept = default;
SplitPattern::Found SplitPattern::Matcher::next(std::string_view text, std::size_t) {
  return {text.size(), text.size()};
}

#endif

}  // namespace bench::tokenizer
