// Reads logs from stdin and writes each MLLOG line found back as core/mllog does, with trouble as
// "trouble: ...": tests/core/mllog_peer_test.py compares that with Python.
#include <iostream>
#include <string>

#include "core/mllog.h"

int main() {
  std::string text;
  while (std::getline(std::cin, text)) {
    const bench::MllogParse parsed = bench::parse_mllog(text);
    if (parsed.line) std::cout << bench::to_text(*parsed.line) << '\n';
    if (!parsed.trouble.empty()) std::cout << "trouble: " << parsed.trouble << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
