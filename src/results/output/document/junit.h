// Test cases as JUnit XML, which continuous integration reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class JunitKind { passed, failure, error, skipped };

struct JunitTest {
  std::string group, name;
  double seconds = 0.0;
  JunitKind kind = JunitKind::passed;
  std::string why = {};  // unless it passed
};

struct JunitSuite {
  std::string name, id;
  std::int64_t time_ns = 0;
  double seconds = 0.0;
  std::vector<JunitTest> tests = {};
};

std::string to_junit(const JunitSuite& suite);

/// Escaped for element content and attributes. Bytes that XML 1.0 cannot hold become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace bench
