// Reads what Prometheus would read.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "tests/support/catch.h"

namespace bench {

/// {name: {labels: value}} of a text file; fails on anything that Prometheus would refuse.
inline std::map<std::string, std::map<std::string, double>> gauges(const std::string& text) {
  std::map<std::string, std::map<std::string, double>> found;
  std::istringstream lines(text);
  std::string typed;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      typed = line.substr(7, line.find(' ', 7) - 7);
      CHECK(line.ends_with(" gauge"));
      CHECK(found.count(typed) == 0);  // each name once, its samples together
      continue;
    }
    const std::size_t open = line.find('{'), close = line.rfind('}');
    REQUIRE(close != std::string::npos);
    CHECK(line.substr(0, open) == typed);
    CHECK(found[typed]
              .emplace(line.substr(open, close - open + 1), std::stod(line.substr(close + 1)))
              .second);
  }
  return found;
}

}  // namespace bench
