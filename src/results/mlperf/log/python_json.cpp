#include "results/mlperf/log/python_json.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace bench::mlperf {
namespace {

constexpr std::size_t kFewMembers = 16;

/// A duplicate key keeps the first position and the last value.
void keep_last(PythonValue::Dict& dict) {
  std::vector<std::size_t> order(dict.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::string_view(dict[i].first); });
  std::vector<bool> dropped(dict.size(), false);
  for (std::size_t i = order.size(); i-- > 1;) {
    if (dict[order[i]].first != dict[order[i - 1]].first) continue;
    dict[order[i - 1]].second = std::move(dict[order[i]].second);
    dropped[order[i]] = true;
  }
  std::size_t index = 0;
  std::erase_if(dict, [&](const auto&) { return dropped[index++]; });
}

void add_member(PythonValue::Dict& dict, std::string key, PythonValue value) {
  if (dict.size() < kFewMembers)  // larger ones are deduplicated at the end
    for (auto& [name, present] : dict)
      if (name == key) {
        present = std::move(value);
        return;
      }
  dict.emplace_back(std::move(key), std::move(value));
}

}  // namespace

bool PythonJsonReader::fail(const char* why) {
  error_ = why;
  return false;
}

bool PythonJsonReader::enter() {
  too_deep_ = ++depth_ > kMostNested;
  return !too_deep_ || fail("nested too deeply for Python");
}

bool PythonJsonReader::read(PythonValue* value) {
  switch (peek()) {
    case '"': {
      if (value == nullptr) return read_string(nullptr);
      std::string text;
      if (!read_string(&text)) return false;
      *value = PythonValue(std::move(text));
      return true;
    }
    case '{':
      return read_dict(value);
    case '[':
      return read_list(value);
    case 'n':
      return read_literal("null", value, PythonValue());
    case 't':
      return read_literal("true", value, PythonValue(true));
    case 'f':
      return read_literal("false", value, PythonValue(false));
    case 'N':
      return read_literal("NaN", value, PythonValue(std::numeric_limits<double>::quiet_NaN()));
    case 'I':
      return read_literal("Infinity", value, PythonValue(std::numeric_limits<double>::infinity()));
    case '-':
      if (peek(1) == 'I')
        return read_literal("-Infinity", value,
                            PythonValue(-std::numeric_limits<double>::infinity()));
      break;
    default:
      break;
  }
  return read_number(value);
}

bool PythonJsonReader::read_literal(std::string_view name, PythonValue* value,
                                    PythonValue&& meaning) {
  if (!text_.substr(at_).starts_with(name)) return fail("expected a value");
  at_ += name.size();
  if (value != nullptr) *value = std::move(meaning);
  return true;
}

bool PythonJsonReader::read_list(PythonValue* value) {
  if (!enter()) return false;
  ++at_;
  PythonValue::List list;
  if (!take(']')) {
    do {
      skip_space();
      PythonValue member;
      if (!read(value != nullptr ? &member : nullptr)) return false;
      if (value != nullptr) list.push_back(std::move(member));
    } while (take(','));
    if (!take(']')) return fail("expected ',' or ']'");
  }
  --depth_;
  if (value != nullptr) *value = PythonValue(std::move(list));
  return true;
}

bool PythonJsonReader::read_member(PythonValue::Dict* dict) {
  skip_space();
  if (peek() != '"') return fail("expected a key in double quotes");
  std::string key;
  PythonValue member;
  if (!read_string(dict != nullptr ? &key : nullptr)) return false;
  if (!take(':')) return fail("expected ':'");
  skip_space();
  if (!read(dict != nullptr ? &member : nullptr)) return false;
  if (dict != nullptr) add_member(*dict, std::move(key), std::move(member));
  return true;
}

bool PythonJsonReader::read_dict(PythonValue* value) {
  if (!enter()) return false;
  ++at_;
  PythonValue::Dict dict;
  if (!take('}')) {
    do {
      if (!read_member(value != nullptr ? &dict : nullptr)) return false;
    } while (take(','));
    if (!take('}')) return fail("expected ',' or '}'");
  }
  --depth_;
  if (value == nullptr) return true;
  if (dict.size() >= kFewMembers) keep_last(dict);
  *value = PythonValue(std::move(dict));
  return true;
}

}  // namespace bench::mlperf
