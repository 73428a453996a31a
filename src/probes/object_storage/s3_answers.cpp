#include "probes/object_storage/s3_answers.h"

#include <array>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace bench::object_storage {
namespace {

constexpr std::size_t kMostShown = 300;

/// Takes the content of the next element `name` off the front of `xml`; nothing if there is none.
/// Elements of S3's answers have no attributes, except the outermost, and none contains its like.
std::optional<std::string_view> take(std::string_view& xml, const std::string& name) {
  const std::string open = "<" + name + ">", close = "</" + name + ">";
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = xml.find(close, begin);
  if (end == std::string_view::npos) return {};
  const std::string_view content = xml.substr(begin + open.size(), end - begin - open.size());
  xml.remove_prefix(end + close.size());
  return content;
}

/// Size and character of a reference such as "&#39;" at the front; {0, 0} if there is none, or one
/// past ASCII, which no key of ours has.
std::pair<std::size_t, char> character_reference(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  if (!text.starts_with("&#")) return {0, '\0'};
  const std::size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) return {0, '\0'};
  const bool hex = text.starts_with("&#x");
  const std::size_t begin = hex ? 3 : 2;
  const auto number = parse_as<unsigned>(text.substr(begin, end - begin), hex ? 16 : 10);
  if (!number || *number == 0 || *number > 0x7f) return {0, '\0'};
  return {end + 1, static_cast<char>(*number)};
}

/// The content of the first element `name`, with entities resolved; "" if there is none.
std::string text_of(std::string_view xml, const std::string& name) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string_view content = take(xml, name).value_or("");
  std::string text;
  while (!content.empty()) {
    std::size_t taken = 1;
    char next = content.front();
    for (const auto& [entity, meant] : kEntities)
      if (content.starts_with(entity)) {
        taken = entity.size();
        next = meant;
      }
    if (const auto [size, number] = character_reference(content); size > 0) {
      taken = size;
      next = number;
    }
    text += next;
    content.remove_prefix(taken);
  }
  return text;
}

}  // namespace

ListPage parse_list(std::string_view xml) {
  const std::size_t begin = xml.find("<ListBucketResult");
  if (begin == std::string_view::npos ||
      xml.find("</ListBucketResult>", begin) == std::string_view::npos)
    throw Error(ErrorKind::environment,
                "the answer to a list is no ListBucketResult: '" +
                    printable(xml.substr(0, kMostShown)) + "'",
                "check that 'endpoint' is an S3-compatible object store");
  xml.remove_prefix(begin);
  ListPage page;
  const bool more = text_of(xml, "IsTruncated") == "true";
  page.continuation = more ? text_of(xml, "NextContinuationToken") : "";
  if (more && page.continuation.empty())
    throw Error(ErrorKind::environment,
                "a list says that it goes on, without a NextContinuationToken");
  while (const auto contents = take(xml, "Contents"))
    page.keys.push_back(text_of(*contents, "Key"));
  return page;
}

std::string parse_error(std::string_view xml) {
  const std::string code = text_of(xml, "Code");
  if (code.empty()) return "";
  const std::string message = text_of(xml, "Message");
  return printable(code.substr(0, kMostShown)) +
         (message.empty() ? "" : ": " + printable(message.substr(0, kMostShown)));
}

}  // namespace bench::object_storage
