#include "tokenizer/split_pattern.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
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

/// What the engines do not read alike is refused: PCRE2's meaning would give other pieces.
class SyntaxCheck {
 public:
  explicit SyntaxCheck(std::string_view pattern) : left_(pattern) {}

  /// The first construct that is not supported; "" if there is none.
  std::string find() {
    while (!left_.empty() && refused_.empty()) {
      if (left_[0] == '\\')
        escape();
      else if (in_class_)
        character_of_class();
      else
        character();
    }
    return refused_;
  }

 private:
  void character() {
    switch (left_[0]) {
      case '[':
        in_class_ = true;
        take(left_.starts_with("[^") ? 2 : 1);
        // Literal in some engines, the end of an empty class in others.
        if (left_.starts_with(']')) refuse("[]");
        return;
      case '(':
        return group();
      case '{':
        return repetition();
      case '^':
      case '$':  // of a line in Oniguruma
        return refuse(left_.substr(0, 1));
      default:
        take(1);
    }
  }

  void group() {
    for (const std::string_view known : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"})
      if (left_.starts_with(known)) return take(known.size());
    if (left_.starts_with("(?") || left_.starts_with("(*"))
      return refuse(left_.substr(0, std::min(left_.find_first_of(":)"), std::size_t{12})));
    take(1);
  }

  /// {2}, {2,} or {2,3}. A '+' or '?' behind it is possessive or lazy only in some engines.
  void repetition() {
    std::size_t at = 1;
    const auto digits = [&] {
      const std::size_t first = at;
      while (at < left_.size() && is_digit(left_[at])) ++at;
      return at > first;
    };
    bool valid = digits();
    if (valid && at < left_.size() && left_[at] == ',') {
      ++at;
      digits();
    }
    valid = valid && at < left_.size() && left_[at] == '}';
    if (!valid) return refuse("{");
    take(at + 1);
    if (left_.starts_with('+')) refuse("}+");
    if (left_.starts_with('?')) refuse("}?");
  }

  void character_of_class() {
    if (left_[0] == '[') return refuse("[ inside brackets");
    for (const std::string_view operation : {"&&", "--", "~~"})
      if (left_.starts_with(operation)) return refuse(std::string(operation) + " inside brackets");
    if (left_[0] == ']') in_class_ = false;
    take(1);
  }

  void escape() {
    if (left_.size() == 1) return refuse("\\ at the end");
    const char c = left_[1];
    if (c == 'p' || c == 'P') return property();
    if (left_.starts_with("\\x{")) return take(3);
    const bool known = std::string_view("sdDrntf").find(c) != std::string_view::npos ||
                       (!in_class_ && (c == 'S' || c == 'z' || c == 'A'));
    // Escaped quotes and angles are anchors in some engines.
    const bool literal = c > ' ' && c <= '~' && !is_letter(c) && !is_digit(c) &&
                         std::string_view("<>`'_").find(c) == std::string_view::npos;
    if (!known && !literal)
      return refuse(std::string(left_.substr(0, 2)) + (in_class_ ? " inside brackets" : ""));
    take(2);
  }

  /// General categories; scripts differ between versions of PCRE2.
  void property() {
    static constexpr std::string_view kKnown =
        " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp ";
    const std::size_t end = left_.find('}');
    const std::string_view name = left_.substr(2).starts_with('{') && end != std::string_view::npos
                                      ? left_.substr(3, end - 3)
                                      : std::string_view();
    const std::string padded = " " + std::string(name) + " ";
    if (name.empty() || kKnown.find(padded) == std::string_view::npos)
      return refuse(left_.substr(0, std::min({end == std::string_view::npos ? 2 : end + 1,
                                              left_.size(), std::size_t{20}})));
    take(end + 1);
  }

  void take(std::size_t count) { left_.remove_prefix(count); }
  void refuse(std::string_view what) { refused_ = what; }

  std::string_view left_;
  bool in_class_ = false;
  std::string refused_ = {};
};

}  // namespace

std::string named_pattern(std::string_view name) {
  switch (kNamedPatterns.value(name, "pattern")) {
    case NamedPattern::gpt2:  // GPT-2, encoder.py
      return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    case NamedPattern::cl100k_base:
      // tiktoken 0.14, openai_public.py. Its '$' is written as '\z', and '{1,3}+' without the '+',
      // which changes nothing there and is read alike by Oniguruma.
      return R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}|)"
             R"( ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s)";
    case NamedPattern::llama3:  // Llama 3, tokenizer.py
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

std::string unsupported_syntax(std::string_view pattern) { return SyntaxCheck(pattern).find(); }

#ifdef BENCH_PCRE2

namespace {

constexpr std::size_t kLongestPattern = 1u << 16;
constexpr std::uint32_t kMostSteps = 20'000'000;  // before a pattern is given up
constexpr std::size_t kFirstStack = 1u << 15, kLargestStack = 1u << 24;

/// PCRE2's \s would also be U+180E, which has not been whitespace since Unicode 6.3.
std::string with_unicode_whitespace(const std::string& pattern) {
  static const std::string whitespace = R"(\t-\r\x{85}\p{Z})";
  std::string changed;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's')
        changed += in_class ? whitespace : "[" + whitespace + "]";
      else if (next == 'S')
        changed += "[^" + whitespace + "]";
      else
        (changed += c) += next;
      continue;
    }
    if (c == '[') in_class = true;
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

std::string why_no_patterns() { return ""; }

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
    return Error(ErrorKind::input,
                 printable(origin) + ": pattern '" + printable(pattern) + "' " + why,
                 "use a tokenizer with a pattern that PCRE2 takes");
  };
  if (pattern.size() > kLongestPattern)
    throw Error(ErrorKind::input,
                origin + ": a pattern of " + std::to_string(pattern.size()) + " bytes",
                "patterns of up to 64 KiB are supported");
  if (const std::string construct = unsupported_syntax(pattern); !construct.empty())
    throw refuse("has '" + printable(construct) + "', which is not supported");
  const std::string changed = with_unicode_whitespace(pattern);
  int error = 0;
  PCRE2_SIZE where = 0;
  compiled_->pattern = pattern;
  compiled_->origin = origin;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_parens_nest_limit(context, 64);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);  // what '.' does not match
  compiled_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(changed.data()), changed.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &error,
                    &where, context);
  pcre2_compile_context_free(context);
  if (compiled_->code == nullptr) throw refuse("is invalid: " + pcre2_message(error));
  std::uint32_t empty = 0;
  pcre2_pattern_info(compiled_->code, PCRE2_INFO_MATCHEMPTY, &empty);
  if (empty != 0) throw refuse("matches the empty text");
  // Where the kernel forbids memory that is written and executed, the interpreter does the same.
  std::size_t jit_bytes = 0;  // the compiler may succeed without making code
  compiled_->jit = pcre2_jit_compile(compiled_->code, PCRE2_JIT_COMPLETE) == 0 &&
                   pcre2_pattern_info(compiled_->code, PCRE2_INFO_JITSIZE, &jit_bytes) == 0 &&
                   jit_bytes > 0;
}

SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;

struct SplitPattern::Matcher::State {
  explicit State(const Compiled& compiled)
      : pattern(compiled),
        data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr)) {
    // A missing stack is the machine stack.
    if (data == nullptr || context == nullptr) {
      release();
      throw std::bad_alloc();
    }
    pcre2_set_match_limit(context, kMostSteps);
    pcre2_jit_stack_assign(context, nullptr, stack);
    found = pcre2_get_ovector_pointer(data);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { release(); }
  void release() {
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
  if (code >= 0) {
    const Found found{state.found[0], state.found[1]};
    // Pieces that overlap would be more tokens than bytes.
    if (found.begin >= from && found.begin < found.end && found.end <= text.size()) return found;
    throw Error(ErrorKind::input,
                printable(state.pattern.origin) + ": pattern '" + printable(state.pattern.pattern) +
                    "' matches nothing, or text before it began, at byte " + std::to_string(from),
                "use a pattern without \\K");
  }
  if (code == PCRE2_ERROR_NOMATCH) return {text.size(), text.size()};
  throw Error(ErrorKind::input,
              printable(state.pattern.origin) + ": pattern '" + printable(state.pattern.pattern) +
                  "' failed at byte " + std::to_string(from) + " of a text of " +
                  std::to_string(text.size()) + ": " + pcre2_message(code),
              "use a pattern that decides without trying so many ways, or shorter texts");
}

#else

std::string why_no_patterns() { return "built without PCRE2, by which tokenizers split texts"; }
std::string pattern_library() { return ""; }

struct SplitPattern::Compiled {};
struct SplitPattern::Matcher::State {};
SplitPattern::SplitPattern(const std::string&, const std::string&) {
  throw Error(ErrorKind::environment, why_no_patterns(), "install libpcre2-dev and build again");
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
