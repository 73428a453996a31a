// Says for each line of stdin, {"schema": PATH, "value": ...}, whether our checker accepts the
// value: a line of stdout "accepted" or "refused: MESSAGE". tests/core/schema_peer_test.py compares
// the answers with those of Python's jsonschema.
#include <iostream>
#include <map>
#include <string>

#include "core/error.h"
#include "core/schema.h"
#include "core/text.h"

namespace {

const bench::Schema& schema_at(const std::string& path) {
  static std::map<std::string, bench::Schema> schemas;
  auto found = schemas.find(path);
  if (found == schemas.end()) found = schemas.emplace(path, bench::Schema::load(path)).first;
  return found->second;
}

std::string verdict(const bench::Json& question) {
  const bench::Schema& schema = schema_at(question.at("schema").get<std::string>());
  try {
    schema.check(question.at("value"), "value");
    return "accepted";
  } catch (const bench::Error& error) {
    return std::string("refused: ") + error.what();
  }
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << bench::printable(verdict(bench::parse_json(line, "stdin"))) << "\n";
  return std::cout.flush() ? 0 : 1;
}
