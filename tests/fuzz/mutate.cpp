#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace bench::fuzz {
namespace {

using namespace std::string_view_literals;

// What parsers trip over, and the words that let an input get past the first check.
constexpr std::array kTokens = {"{"sv,
                                "}"sv,
                                "["sv,
                                "]"sv,
                                ","sv,
                                ":"sv,
                                "\""sv,
                                "null"sv,
                                "true"sv,
                                "-0"sv,
                                "1e999"sv,
                                "1e-999"sv,
                                "1.0"sv,
                                "\\u0000"sv,
                                "\\ud800"sv,
                                "\xff"sv,
                                "\xc3"sv,
                                "\0"sv,
                                "\n"sv,
                                "NaN"sv,
                                "\"kind\":"sv,
                                "\"body\":"sv,
                                "#bench1 "sv,
                                "00000000 "sv,
                                "[[[[[[[["sv,
                                "{\"a\":"sv,
                                "\"axes\":"sv,
                                "\"min\":"sv,
                                "18446744073709551616"sv,
                                "-9223372036854775809"sv,
                                "\"params\":"sv};

/// Every place in the tree at which a value stands.
void collect(Json& json, std::vector<Json*>& places) {
  places.push_back(&json);
  if (json.is_structured())
    for (Json& member : json) collect(member, places);
}

}  // namespace

Mutator::Mutator(const std::vector<std::string>& corpus, std::uint64_t seed)
    : corpus_(corpus), random_(seed) {
  for (const std::string& text : corpus)
    if (Json json = Json::parse(text, nullptr, false); !json.is_discarded())
      trees_.push_back(std::move(json));
}

std::size_t Mutator::below(std::size_t bound) {
  return static_cast<std::size_t>(random_() % bound);
}

std::string Mutator::next() {
  const bool as_tree = !trees_.empty() && below(4) != 0;
  std::string text = as_tree ? tree_text(any_of(trees_)) : any_of(corpus_);
  if (!as_tree || below(8) == 0)
    for (std::size_t count = 1 + below(4); count > 0; --count) damage_bytes(text);
  return text;
}

std::string Mutator::tree_text(Json json) {
  for (std::size_t count = 1 + below(3); count > 0; --count) damage_tree(json);
  return dump(json);
}

void Mutator::damage_bytes(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = 1 + below(16);
  switch (below(5)) {
    case 0:  // flip a bit
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 1:  // lose some
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, any_of(kTokens));
      break;
    case 3:  // repeat some
      text.insert(at, text.substr(at, length));
      break;
    default: {  // go on as another of the corpus does
      const std::string& other = any_of(corpus_);
      text = text.substr(0, at) + other.substr(below(other.size() + 1));
    }
  }
}

void Mutator::damage_tree(Json& json) {
  std::vector<Json*> places;
  collect(json, places);
  Json& place = *any_of(places);
  const std::size_t what = below(4);
  if (what == 0 || !place.is_structured() || place.empty()) {
    place = odd_value();
  } else if (place.is_array()) {
    const auto at = place.begin() + static_cast<std::ptrdiff_t>(below(place.size()));
    if (what == 1) place.erase(at);
    if (what == 2) place.push_back(Json(*at));
    if (what == 3) place.insert(place.end(), below(300), odd_value());
  } else {
    const std::string key =
        std::next(place.begin(), static_cast<std::ptrdiff_t>(below(place.size()))).key();
    const Json value = place[key];
    if (what != 3) place.erase(key);
    if (what == 2) place[key + std::string(any_of(kTokens))] = value;
    if (what == 3) place["extra"] = odd_value();
  }
}

Json Mutator::odd_value() {
  static const std::vector<Json> values = {nullptr,
                                           true,
                                           0,
                                           1,
                                           -1,
                                           1.0,
                                           0.5,
                                           -0.0,
                                           1e308,
                                           5e-324,
                                           INT64_MIN,
                                           INT64_MAX,
                                           UINT64_MAX,
                                           "",
                                           "ok",
                                           "host",
                                           "slots",
                                           std::string("\0", 1),
                                           std::string(5000, 'a'),
                                           Json::array(),
                                           Json::object(),
                                           {1, 1.0, true}};
  if (below(3) != 0) return any_of(values);
  // Something that fits elsewhere: a part of another input.
  Json donor = any_of(trees_);
  std::vector<Json*> places;
  collect(donor, places);
  return *any_of(places);
}

}  // namespace bench::fuzz
