// Test cases as JUnit XML, which continuous integration reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

enum class JunitKind { passed, failure, error, skipped };

struct JunitTest {
  std::string group, name;
  double seconds = 0.0;
  JunitKind kind = JunitKind::passed;
  std::string why = {};          // unless it passed
  std::string type = {};         // of a failure or error
  std::string explanation = {};  // content of the failure or error, or output of a passed test
};

struct JunitSuite {
  std::string name, id = {};
  std::int64_t time_ns = 0;  // 0 if unknown
  double seconds = 0.0;
  std::vector<JunitTest> tests = {};
  std::string host = {};
};

/// Suites that are added one by one; the text is much smaller than they are.
class JunitReport {
 public:
  /// `name`: "" for none.
  explicit JunitReport(std::string name = {}) : name_(std::move(name)) {}
  void add(const JunitSuite& suite);
  std::string text() const;

 private:
  struct Counts {
    std::array<std::size_t, 4> tests{};  // by kind
    double seconds = 0.0;
    std::string attributes() const;
  };
  std::string name_, suites_;
  Counts counts_;
};

std::string to_junit(const JunitSuite& suite);

/// Escaped for element content and attributes. Bytes that XML 1.0 cannot hold become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace bench
