#include "results/output/document/junit.h"

#include <fmt/format.h>

#include <cmath>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/markup.h"

namespace bench {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

double finite_seconds(double seconds) { return std::isfinite(seconds) ? seconds : 0.0; }

/// " name=\"value\""; "" for an empty value.
std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, xml_text(value));
}

std::string as_xml(const JunitTest& test) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                  xml_text(test.group), xml_text(test.name), finite_seconds(test.seconds));
  if (test.kind == JunitKind::passed && test.explanation.empty()) return head + "/>\n";
  if (test.kind == JunitKind::passed)
    return head + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                              xml_text(test.explanation));
  constexpr std::array kElements = {"", "failure", "error", "skipped"};
  const std::string_view element = kElements[static_cast<std::size_t>(test.kind)];
  const std::string end = test.explanation.empty()
                              ? "/>"
                              : fmt::format(">{}</{}>", xml_text(test.explanation), element);
  return head + fmt::format(">\n      <{}{} message=\"{}\"{}\n    </testcase>\n", element,
                            attribute("type", test.type), xml_text(test.why), end);
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

std::string JunitReport::Counts::attributes() const {
  const auto& [passed, failures, errors, skipped] = tests;
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                     passed + failures + errors + skipped, failures, errors, skipped, seconds);
}

void JunitReport::add(const JunitSuite& suite) {
  Counts counts{.seconds = finite_seconds(suite.seconds)};
  std::string cases;
  for (const JunitTest& test : suite.tests) {
    ++counts.tests[static_cast<std::size_t>(test.kind)];
    cases += as_xml(test);
  }
  const std::string time = suite.time_ns == 0 ? "" : format_time(suite.time_ns).substr(0, 19);
  suites_ +=
      fmt::format("  <testsuite name=\"{}\"{}{}{} {}>\n{}  </testsuite>\n", xml_text(suite.name),
                  attribute("id", suite.id), attribute("hostname", suite.host),
                  attribute("timestamp", time), counts.attributes(), cases);
  for (std::size_t kind = 0; kind < counts.tests.size(); ++kind)
    counts_.tests[kind] += counts.tests[kind];
  counts_.seconds += counts.seconds;
}

std::string JunitReport::text() const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{} {}>\n{}</testsuites>\n",
      attribute("name", name_), counts_.attributes(), suites_);
}

std::string to_junit(const JunitSuite& suite) {
  JunitReport report;
  report.add(suite);
  return report.text();
}

}  // namespace bench
