#include "probes/preprocessing/generated_text.h"

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "training/sources/random.h"
#include "training/sources/zipf.h"

namespace bench::preprocessing {
namespace {

using training::below;
using training::random_stream;
using training::RandomStream;

constexpr std::uint32_t kWords = 30000;  // of a script
constexpr double kShortest = 200.0, kLongest = 20000.0;

/// A script's syllables, and what is between words.
struct Script {
  std::vector<std::string_view> beginnings, middles;
  std::string_view space;
  std::string_view stop;
};

const std::vector<Script>& scripts() {
  static const std::vector<Script> all = {
      {{"b", "c", "d", "f", "g",  "h",  "l",  "m",  "n",  "p", "qu", "r",
        "s", "t", "v", "w", "st", "th", "tr", "pl", "sh", "k", "br", ""},
       {"a", "e", "i", "o", "u", "ea", "ou", "er", "in", "on", "al", "ent", "ing", "ion", "es",
        "y"},
       " ",
       ". "},
      {{"b", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "z", "ñ", "ç", "sch", ""},
       {"a", "e", "é", "è", "ö", "ü", "ä", "í", "ó", "ã", "ung", "ão", "ção", "ée", "ß", "en"},
       " ",
       ". "},
      {{"б", "в", "г", "д", "ж", "з", "к", "л", "м", "н", "п", "р", "с", "т", "ст", "пр", ""},
       {"а", "е", "и", "о", "у", "ы", "я", "ов", "ет", "ия", "ость", "ный", "ть", "ен"},
       " ",
       ". "},
      {{"क", "ख", "ग", "च", "ज", "त", "द", "न", "प", "ब", "म", "य", "र", "ल", "व", "स", "ह"},
       {"ा", "ि", "ी", "ु", "े", "ो", "ं", "्र", ""},
       " ",
       "। "},
      {{"的", "一", "是", "不", "了", "人", "我", "在", "有", "他", "这", "中", "大", "来", "上",
        "国", "个", "到", "说", "们", "为", "子", "和", "你", "地", "出", "道", "也", "时", "年"},
       {"",   "得", "就", "那", "要", "下", "以", "生", "会", "自", "着", "去", "之", "过", "家",
        "学", "对", "可", "她", "里", "后", "小", "么", "心", "多", "天", "而", "能", "好", "都"},
       "",
       "。"},
  };
  return all;
}

constexpr std::array<std::string_view, 6> kEmoji = {"🙂", "🚀",      "👩‍🔬",
                                                    "🇪🇺",   "❤️", "👍🏽"};
constexpr std::array<std::string_view, 10> kKeywords = {
    "return ", "if (", "for (",   "const ",  "std::vector<",
    "auto& ",  "def ", "import ", "while (", "// "};

class TextMaker {
 public:
  explicit TextMaker(std::uint64_t seed) : seed_(seed), ranks_(kWords, 1.0) {
    for (std::size_t script = 0; script < scripts().size(); ++script) {
      std::vector<std::string>& words = words_.emplace_back();
      const RandomStream random = random_stream(seed, script);
      for (std::uint32_t rank = 0; rank < kWords; ++rank)
        words.push_back(word(script, random, rank));
    }
  }

  std::string document(std::uint64_t index) {
    random_ = random_stream(seed_ + 1, index);
    used_ = 0;
    const double share = training::uniform(random_.bits(used_++));
    const auto length = static_cast<std::size_t>(kShortest * std::pow(kLongest / kShortest, share));
    const std::uint32_t kind = draw(20);
    std::string text;
    while (text.size() < length) {
      if (kind < 11) sentence(0, text);
      if (kind >= 11 && kind < 15) line_of_code(text);
      if (kind == 15) sentence(1, text);
      if (kind == 16) sentence(2, text);
      if (kind == 17) sentence(3, text);
      if (kind == 18) sentence(4, text);
      if (kind == 19) sentence(draw(static_cast<std::uint32_t>(scripts().size())), text);
    }
    return text;
  }

 private:
  static std::string word(std::size_t script, RandomStream random, std::uint32_t rank) {
    const Script& of = scripts()[script];
    // Frequent words are short.
    const double octaves = std::log2(rank + 2.0) / 5.0;
    const auto syllables = 1 + static_cast<int>(octaves + training::uniform(random.bits(8 * rank)));
    std::string made;
    for (int s = 0; s < syllables; ++s) {
      const std::uint64_t bits =
          random.bits(8 * std::uint64_t{rank} + 1 + static_cast<unsigned>(s));
      made += of.beginnings[below(static_cast<std::uint32_t>(bits),
                                  static_cast<std::uint32_t>(of.beginnings.size()))];
      made += of.middles[below(static_cast<std::uint32_t>(bits >> 32),
                               static_cast<std::uint32_t>(of.middles.size()))];
    }
    return made;
  }

  std::uint32_t draw(std::uint32_t bound) { return below(random_.bits32(used_++), bound); }
  const std::string& any_word(std::size_t script) {
    return words_[script][ranks_.view().draw(random_.bits(used_++))];
  }

  void sentence(std::size_t script, std::string& text) {
    const Script& of = scripts()[script];
    const std::uint32_t words = 4 + draw(20);
    for (std::uint32_t w = 0; w < words; ++w) {
      const std::size_t begin = text.size();
      const std::uint32_t kind = draw(40);
      if (kind == 0)
        text += std::to_string(draw(3) == 0 ? draw(100000000) : draw(2100));
      else
        text += any_word(script);
      if (w == 0 && text[begin] >= 'a' && text[begin] <= 'z')
        text[begin] = static_cast<char>(text[begin] - 'a' + 'A');
      if (kind == 1) text += "'s";
      if (kind == 2 || kind == 3) text += of.space.empty() ? "，" : ",";
      if (w + 1 < words) text += of.space;
    }
    if (draw(100) == 0) (text += " ") += kEmoji[draw(kEmoji.size())];
    text += of.stop;
    if (draw(6) == 0) text += draw(2) == 0 ? "\n" : "\n\n";
  }

  void line_of_code(std::string& text) {
    text.append(2 * draw(8), ' ');
    text += kKeywords[draw(kKeywords.size())];
    const std::uint32_t terms = 1 + draw(4);
    for (std::uint32_t t = 0; t < terms; ++t) {
      text += any_word(0);
      if (draw(3) == 0) (text += "_") += any_word(0);
      if (draw(4) == 0) text += "(" + std::to_string(draw(1000)) + ")";
      text += t + 1 < terms ? " + " : "";
    }
    text += draw(5) == 0 ? ") {\n" : ";\n";
    if (draw(12) == 0) text += "\t\t}\n\n";
  }

  std::uint64_t seed_;
  training::Zipf ranks_;
  std::vector<std::vector<std::string>> words_ = {};
  RandomStream random_ = {0};
  std::uint64_t used_ = 0;
};

}  // namespace

Corpus generated_corpus(std::uint64_t bytes, std::uint64_t seed) {
  TextMaker maker(seed);
  Corpus corpus;
  for (std::uint64_t i = 0; corpus.text.size() < bytes; ++i) corpus.add(maker.document(i));
  return corpus;
}

}  // namespace bench::preprocessing
