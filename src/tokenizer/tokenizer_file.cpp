#include "tokenizer/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/rank_file.h"
#include "tokenizer/split_pattern.h"

namespace bench::tokenizer {
namespace {

constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{256} << 20;

class JsonReader {
 public:
  JsonReader(const Json& file, const std::string& origin)
      : file_(file), origin_(origin), model_(field(file, "model")) {
    spec_.origin = origin;
  }

  TokenizerSpec read() {
    if (!model_.is_object()) throw refuse("model", model_, "an object with a BPE");
    check_model();
    check_rest();
    read_vocabulary();
    read_added();
    read_merges();
    read_pre_tokenizer(field(file_, "pre_tokenizer"));
    check_all_are_bytes();
    spec_.byte_tokens();
    return std::move(spec_);
  }

 private:
  Error refuse(const std::string& key, const Json& seen, const std::string& supported) const {
    return {ErrorKind::input,
            fmt::format("{}: '{}' is {}", printable(origin_), key, printable(excerpt(seen))),
            "supported: " + supported};
  }

  void check_all_are_bytes() const {
    const std::string* first = nullptr;  // by ID, so that the error is always the same
    for (const auto& [token, id] : ids_)
      if (spec_.tokens[id].empty() && !added_ids_.contains(id) &&
          (first == nullptr || id < ids_.at(*first)))
        first = &token;
    if (first != nullptr)
      throw refuse("model.vocab", Json(*first),
                   "tokens in the 256 characters of byte-level tokenizers");
  }

  void check_model() {
    const std::string type = text_field(model_, "type", "BPE");  // old files do not say
    if (type != "BPE") throw refuse("model.type", type, "BPE");
    for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
      const Json& value = field(model_, key);
      if (!value.is_null() && value != "" && value != 0)
        throw refuse(std::string("model.") + key, value, "null");
    }
    const Json& fallback = field(model_, "byte_fallback");
    if (!fallback.is_null() && fallback != false)
      throw refuse("model.byte_fallback", fallback, "false");
    const Json& ignore = field(model_, "ignore_merges");
    if (!ignore.is_null() && !ignore.is_boolean())
      throw refuse("model.ignore_merges", ignore, "true or false");
    spec_.whole_pieces = ignore == true;
  }

  void check_rest() {
    for (const char* key : {"truncation", "padding"})
      if (const Json& value = field(file_, key); !value.is_null()) throw refuse(key, value, "null");
    const Json& normalizer = field(file_, "normalizer");
    const bool none = normalizer.is_null() || (text_field(normalizer, "type") == "Sequence" &&
                                               field(normalizer, "normalizers") == Json::array());
    if (!none) throw refuse("normalizer", normalizer, "null");
    const Json& decoder = field(file_, "decoder");
    if (!decoder.is_null() && text_field(decoder, "type") != "ByteLevel")
      throw refuse("decoder", decoder, "ByteLevel");
  }

  void read_vocabulary() {
    const Json& vocabulary = field(model_, "vocab");
    if (!vocabulary.is_object()) throw refuse("model.vocab", vocabulary, "an object of IDs");
    // Room for holes, but not for a table that a short file asks for.
    const std::uint64_t most = std::min<std::uint64_t>(kMostTokens, 2 * vocabulary.size() + 65536);
    std::unordered_set<TokenId> taken;
    for (const auto& [text, id] : vocabulary.items()) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= most)
        throw refuse("model.vocab." + printable(text.substr(0, 60)), id,
                     fmt::format("IDs below {}", most));
      if (!taken.insert(id.get<TokenId>()).second)
        throw refuse("model.vocab." + printable(text.substr(0, 60)), id, "each ID once");
      const auto number = id.get<TokenId>();
      auto bytes = from_byte_alphabet(text);
      if (bytes && (bytes->empty() || bytes->size() > kLongestToken))
        throw refuse("model.vocab", text, "tokens of 1 to 1024 bytes");
      if (number >= spec_.tokens.size()) spec_.tokens.resize(number + 1);
      if (bytes) spec_.tokens[number] = std::move(*bytes);
      ids_.emplace(text, number);
    }
  }

  void read_added() {
    const Json& added = field(file_, "added_tokens");
    if (!added.is_null() && !added.is_array()) throw refuse("added_tokens", added, "an array");
    std::set<std::string> texts;
    for (const Json& token : array_field(file_, "added_tokens")) {
      const std::string text = text_field(token, "content");
      const Json& id = field(token, "id");
      if (text.empty() || text.size() > kLongestToken)
        throw refuse("added_tokens.content", field(token, "content"), "1 to 1024 bytes");
      if (!id.is_number_unsigned() ||
          id.get<std::uint64_t>() >=
              std::min<std::uint64_t>(kMostTokens, 2 * spec_.tokens.size() + added.size() + 65536))
        throw refuse("added_tokens.id", id, "an ID below 2^24, in order with the others");
      for (const char* key : {"single_word", "lstrip", "rstrip"})
        if (const Json& value = field(token, key); !value.is_null() && value != false)
          throw refuse(fmt::format("added_tokens.{}", key), token, "false");
      const auto number = id.get<TokenId>();
      if (!texts.insert(text).second || !added_ids_.insert(number).second)
        throw refuse("added_tokens", token, "each token and each ID once");
      // In the vocabulary too, or next to it.
      const auto known = ids_.find(text);
      if (known != ids_.end() ? known->second != number
                              : number < spec_.tokens.size() && !spec_.tokens[number].empty())
        throw refuse("added_tokens", token, "the token's ID in the vocabulary, or one of its own");
      if (number < spec_.tokens.size() && spec_.tokens[number] != text)
        spec_.tokens[number].clear();
      spec_.added.push_back({number, text, field(token, "special") == true});
    }
  }

  void read_merges() {
    const Json& merges = field(model_, "merges");
    if (!merges.is_array() || merges.size() > kMostTokens)
      throw refuse("model.merges", merges, "an array of pairs of tokens");
    std::unordered_set<std::uint64_t> seen;
    for (const Json& merge : merges) {
      const auto pair = parts_of(merge);
      const auto left = ids_.find(pair.first), right = ids_.find(pair.second);
      const auto result = ids_.find(pair.first + pair.second);
      if (left == ids_.end() || right == ids_.end() || result == ids_.end())
        throw refuse("model.merges", merge, "two tokens of the vocabulary that make a third");
      const std::string &a = spec_.tokens[left->second], &b = spec_.tokens[right->second];
      if (a.empty() || b.empty() || spec_.tokens[result->second] != a + b)
        throw refuse("model.merges", merge, "tokens that stand for bytes, and not an added token");
      if (!seen.insert(std::uint64_t{left->second} << 32 | right->second).second)
        throw refuse("model.merges", merge, "each pair once");
      spec_.merges.push_back({left->second, right->second, result->second,
                              static_cast<std::uint32_t>(spec_.merges.size())});
    }
  }

  /// "a b", or since tokenizers 0.20 ["a", "b"].
  std::pair<std::string, std::string> parts_of(const Json& merge) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      return {merge[0].get<std::string>(), merge[1].get<std::string>()};
    if (merge.is_string()) {
      const auto text = merge.get<std::string>();
      const std::size_t space = text.find(' ');
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
        return {text.substr(0, space), text.substr(space + 1)};
    }
    throw refuse("model.merges", merge, "\"a b\" or [\"a\", \"b\"]");
  }

  void read_pre_tokenizer(const Json& pre) {
    const std::string type = text_field(pre, "type");
    if (type == "ByteLevel") return read_byte_level(pre);
    const Json& parts = array_field(pre, "pretokenizers");
    if (type != "Sequence" || parts.empty())
      throw refuse("pre_tokenizer", pre, "ByteLevel, or a Sequence of Splits and ByteLevel");
    if (parts.size() > 16) throw refuse("pre_tokenizer", pre, "a Sequence of up to 16");
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) read_split(parts[i]);
    if (text_field(parts.back(), "type") != "ByteLevel")
      throw refuse("pre_tokenizer", parts.back(), "ByteLevel as the last of a Sequence");
    read_byte_level(parts.back());
  }

  void read_byte_level(const Json& pre) {
    if (const Json& prefix = field(pre, "add_prefix_space"); prefix != false)
      throw refuse("pre_tokenizer.add_prefix_space", prefix, "false");
    const Json& use = field(pre, "use_regex");
    if (!use.is_null() && !use.is_boolean())
      throw refuse("pre_tokenizer.use_regex", use, "true or false");
    if (use != false) spec_.patterns.push_back(named_pattern("gpt2"));
  }

  void read_split(const Json& split) {
    if (text_field(split, "type") != "Split")
      throw refuse("pre_tokenizer", split, "Splits and ByteLevel");
    const std::string pattern = text_field(field(split, "pattern"), "Regex");
    if (pattern.empty()) throw refuse("pre_tokenizer.pattern", field(split, "pattern"), "a Regex");
    if (const std::string construct = unsupported_syntax(pattern); !construct.empty())
      throw refuse("pre_tokenizer.pattern", field(split, "pattern"),
                   "patterns without '" + printable(construct) +
                       "', which regular expression engines do not read alike");
    if (text_field(split, "behavior") != "Isolated")
      throw refuse("pre_tokenizer.behavior", field(split, "behavior"), "Isolated");
    if (const Json& invert = field(split, "invert"); !invert.is_null() && invert != false)
      throw refuse("pre_tokenizer.invert", invert, "false");
    spec_.patterns.push_back(pattern);
  }

  const Json& file_;
  const std::string& origin_;
  const Json& model_;
  TokenizerSpec spec_ = {};
  std::unordered_map<std::string, TokenId> ids_ = {};
  std::set<TokenId> added_ids_ = {};
};

}  // namespace

TokenizerSpec parse_tokenizer_json(std::string_view text, const std::string& origin) {
  const Json file = parse_json(text, origin);
  return JsonReader(file, origin).read();
}

TokenizerSpec read_tokenizer(const std::filesystem::path& path, std::string_view pattern) {
  open_input(path);  // refuses what is not a file
  const std::string name = printable(path.string());
  const auto check_size = [&](std::uintmax_t bytes) {
    if (bytes > kMostFileBytes)
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} bytes are too many for a tokenizer", name, bytes),
                  "name a tokenizer.json or a rank file of tiktoken");
  };
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!error) check_size(bytes);
  const std::string text = read_file(path);
  check_size(text.size());  // of a pipe, or of a file that has grown
  if (trim(text).starts_with('{')) {
    if (!pattern.empty())
      throw Error(ErrorKind::input,
                  fmt::format("{}: a tokenizer.json has patterns of its own, and pattern is '{}'",
                              name, printable(pattern)),
                  "set the parameter pattern only with a rank file or a trained vocabulary");
    return parse_tokenizer_json(text, path.string());
  }
  if (pattern.empty())
    throw Error(ErrorKind::input,
                name + ": not JSON, and a rank file does not say how texts are split",
                "set the parameter pattern to that of the model: gpt2, cl100k_base, o200k_base or "
                "llama3");
  return parse_rank_file(text, pattern, path.string());
}

std::string tokenizer_json(const TokenizerSpec& spec) {
  Json vocabulary = Json::object(), merges = Json::array(), added = Json::array();
  for (std::size_t id = 0; id < spec.tokens.size(); ++id)
    if (!spec.tokens[id].empty()) vocabulary[to_byte_alphabet(spec.tokens[id])] = id;
  std::vector<Merge> ordered = spec.merges;
  std::ranges::sort(ordered, {}, &Merge::rank);
  for (const Merge& merge : ordered)
    merges.push_back(to_byte_alphabet(spec.tokens[merge.left]) + " " +
                     to_byte_alphabet(spec.tokens[merge.right]));
  for (const AddedToken& token : spec.added)
    added.push_back({{"id", token.id},
                     {"content", token.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", token.special}});
  const Json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", false}};
  Json parts = Json::array();
  for (const std::string& pattern : spec.patterns)
    parts.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", pattern}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  parts.push_back(byte_level);
  const Json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", parts}}},
                     {"post_processor", nullptr},
                     {"decoder", byte_level},
                     {"model",
                      {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", spec.whole_pieces},
                       {"vocab", vocabulary},
                       {"merges", merges}}}};
  return dump(file) + "\n";
}

}  // namespace bench::tokenizer
