#include "results/export_junit.h"

#include <fmt/format.h>

#include <cmath>

#include "core/json.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

struct TestCase {
  std::string group, name;
  double seconds = 0.0;
  std::string kind = {};  // "failure", "error", "skipped"; empty: passed
  std::string why = {};
};

struct Counts {
  std::size_t failures = 0, errors = 0, skipped = 0;
};

std::string kind_of_outcome(Status status) {
  switch (status) {
    case Status::ok:
      return "";
    case Status::skipped:
      return "skipped";
    case Status::invalid:
      return "failure";
    default:
      return "error";
  }
}

TestCase as_test(const RunReport& report, const JobResult& job) {
  TestCase test{report.suite + "." + job.job.case_name, job.job.id, job.seconds};
  test.kind = job.not_run ? "error" : kind_of_outcome(job.outcome);
  test.why = fmt::format("{}: {}", to_string(job.outcome), job.reason);
  return test;
}

TestCase as_test(const RunReport& report, const GateResult& result) {
  const Series* series = result.series ? &report.results.at(*result.series).series : nullptr;
  TestCase test{
      report.suite + "." + result.gate.case_name + ".gates",
      result.gate.metric + " " + demand(result.gate, series ? series->unit : Unit::count)};
  test.name += series ? fmt::format(" {} {} {}", dump(series->params), series->host, series->job)
                      : " " + dump(result.gate.where);
  if (result.verdict == Verdict::fail) test.kind = "failure";
  if (result.verdict == Verdict::inconclusive) test.kind = result.measured ? "skipped" : "error";
  test.why = fmt::format("{}: {}", to_string(result.verdict), result.reason);
  return test;
}

std::string as_xml(const TestCase& test) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                       xml_text(test.group), xml_text(test.name),
                                       std::isfinite(test.seconds) ? test.seconds : 0.0);
  if (test.kind.empty()) return head + "/>\n";
  return head + fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", test.kind,
                            xml_text(test.why));
}

void count(const TestCase& test, Counts& counts) {
  counts.failures += test.kind == "failure" ? 1 : 0;
  counts.errors += test.kind == "error" ? 1 : 0;
  counts.skipped += test.kind == "skipped" ? 1 : 0;
}

}  // namespace

std::string xml_text(std::string_view text) {
  // dump() has replaced what is no UTF-8; its quotes go again.
  const Json clean = Json::parse(dump(Json(std::string(text))));
  std::string safe;
  for (const char c : clean.get_ref<const std::string&>()) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
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
        if (static_cast<unsigned char>(c) < 0x20)
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

std::string to_junit(const RunReport& report) {
  std::string cases;
  Counts counts;
  std::size_t tests = 0;
  const auto add = [&](const TestCase& test) {
    cases += as_xml(test);
    count(test, counts);
    ++tests;
  };
  for (const JobResult& job : report.jobs) add(as_test(report, job));
  for (const GateResult& gate : report.gates) add(as_test(report, gate));
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  tests, counts.failures, counts.errors, counts.skipped,
                  std::isfinite(report.seconds) ? report.seconds : 0.0);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
      "  <testsuite name=\"{}\" id=\"{}\" timestamp=\"{}\" {}>\n{}  </testsuite>\n</testsuites>\n",
      numbers, xml_text(report.suite), xml_text(report.run),
      format_time(report.time_ns).substr(0, 19), numbers, cases);
}

}  // namespace bench
