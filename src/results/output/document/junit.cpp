#include "results/output/document/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/markup.h"

namespace bench {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

std::string element_of(JunitKind kind) {
  constexpr std::array kElements = {"", "failure", "error", "skipped"};
  return kElements[static_cast<std::size_t>(kind)];
}

double finite_seconds(double seconds) { return std::isfinite(seconds) ? seconds : 0.0; }

std::string as_xml(const JunitTest& test) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                  xml_text(test.group), xml_text(test.name), finite_seconds(test.seconds));
  if (test.kind == JunitKind::passed) return head + "/>\n";
  return head + fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n",
                            element_of(test.kind), xml_text(test.why));
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '\'':
        safe += "&apos;";
        break;
      case '\t':
        safe += "&#9;";
        break;
      case '\n':
        safe += "&#10;";
        break;
      case '\r':
        safe += "&#13;";
        break;
      default:
        if (const std::string_view entity = entity_of(c); !entity.empty())
          safe += entity;
        else if (static_cast<unsigned char>(c) < 0x20)
          safe += kReplacement;
        else
          safe += c;
    }
  }
  // U+FFFE and U+FFFF are characters of UTF-8 and none of XML.
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = 0; (at = safe.find(none, at)) != std::string::npos; at += 3)
      safe.replace(at, 3, kReplacement);
  return safe;
}

std::string to_junit(const JunitSuite& suite) {
  const auto count = [&](JunitKind kind) {
    return std::ranges::count(suite.tests, kind, &JunitTest::kind);
  };
  std::string cases;
  for (const JunitTest& test : suite.tests) cases += as_xml(test);
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  suite.tests.size(), count(JunitKind::failure), count(JunitKind::error),
                  count(JunitKind::skipped), finite_seconds(suite.seconds));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
      "  <testsuite name=\"{}\" id=\"{}\" timestamp=\"{}\" {}>\n{}  </testsuite>\n</testsuites>\n",
      numbers, xml_text(suite.name), xml_text(suite.id), format_time(suite.time_ns).substr(0, 19),
      numbers, cases);
}

}  // namespace bench
