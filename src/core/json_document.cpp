#include "core/json_document.h"

#include <string_view>

namespace bench {
namespace {

/// Text of a value at `depth` of a document.
std::string indented(const Json& value, int depth) {
  const std::string text = value.dump(1, ' ', false, Json::error_handler_t::replace);
  std::string moved;
  for (const char c : text) {
    moved += c;
    if (c == '\n') moved.append(static_cast<std::size_t>(depth), ' ');
  }
  return moved;
}

void write_list(const JsonList& list, const Write& write) {
  std::string before = "[\n  ";
  for (std::size_t i = 0; i < list.size; ++i) {
    write(before + indented(list.item(i), 2));
    before = ",\n  ";
  }
  write(list.size == 0 ? "[]" : "\n ]");
}

}  // namespace

Json whole_document(Json head, const JsonLists& lists) {
  for (const auto& [key, list] : lists) {
    Json& array = head[key] = Json::array();
    for (std::size_t i = 0; i < list.size; ++i) array.push_back(list.item(i));
  }
  return head;
}

void write_document(const Json& head, const JsonLists& lists, const Write& write) {
  Json keys = head;
  for (const auto& [key, list] : lists) keys[key] = nullptr;
  std::string_view before = "{\n ";
  for (const auto& [key, value] : keys.items()) {
    write(std::string(before) + Json(key).dump() + ": ");
    before = ",\n ";
    if (const auto list = lists.find(key); list != lists.end())
      write_list(list->second, write);
    else
      write(indented(value, 1));
  }
  write(keys.empty() ? "{}\n" : "\n}\n");
}

}  // namespace bench
