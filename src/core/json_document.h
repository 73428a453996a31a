// Long JSON documents, written piecewise: as one tree the results of 80,000 jobs would take half a
// gigabyte.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/json.h"

namespace bench {

/// Receives the pieces of a text in order.
using Write = std::function<void(const std::string&)>;

/// An array whose items are created on demand.
struct JsonList {
  std::size_t size = 0;
  std::function<Json(std::size_t)> item = {};
};
using JsonLists = std::map<std::string, JsonList>;

/// The list of `to_json(items[i])`; borrows the items.
template <class T, class ToJson>
JsonList json_list(const T& items, const ToJson& to_json) {
  return {items.size(), [&items, to_json](std::size_t i) { return Json(to_json(items[i])); }};
}

/// `head`, an object, plus the lists.
Json whole_document(Json head, const JsonLists& lists);

/// The text of whole_document(), indented by one. Ends with a line break.
void write_document(const Json& head, const JsonLists& lists, const Write& write);

}  // namespace bench
