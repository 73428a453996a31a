// Shared by both importers: lines, numbers, and merging of hosts into few entries.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench {

struct TextLine {
  std::size_t number = 1;
  std::string_view text;
};

/// The non-blank lines, without line ends.
std::vector<TextLine> lines_of(std::string_view text);
/// A number of ranks; empty if not within 0..100000.
std::optional<int> read_slots(std::string_view word);

[[noreturn]] void refuse_line(const std::string& origin, const TextLine& line,
                              const std::string& what, const std::string& hint);
/// Throws unless it is a plain host name.
void check_host_name(std::string_view name, const std::string& origin, const TextLine& line);

struct ImportedHost {
  std::string name;
  std::string address;
  int slots = 1;
  std::map<std::string, std::string> labels = {};
};

/// A hosts file with one entry for all hosts that differ only in name. Throws Error(input) with
/// `origin` for an invalid hosts file.
Json hosts_file_of(const std::vector<ImportedHost>& hosts, const std::string& origin);

}  // namespace bench
