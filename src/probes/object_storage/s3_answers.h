// The XML that an object store answers: pages of a list, and errors. Read from any server, so that
// nothing in it is trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::object_storage {

/// ListObjectsV2.
struct ListPage {
  std::vector<std::string> keys = {};
  std::string continuation = {};  // "" at the end of the list
};
/// Throws Error(environment) if it is no such page.
ListPage parse_list(std::string_view xml);

/// "SignatureDoesNotMatch: The request signature ...", safe to print and short; "" if the answer
/// holds no error.
std::string parse_error(std::string_view xml);

}  // namespace bench::object_storage
