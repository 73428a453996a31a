// The journal: decisions of people about runs, which no measurement can say again. journal.jsonl
// lies beside runs/ and is only ever appended to; the database has a copy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bench {

enum class JournalKind {
  note,     // a remark
  discard,  // this run does not count: its numbers stay, comparisons leave it out
  restore,  // it counts again
  // On a finding of `report regression` (results/regression/decisions.h), whose id begins the text;
  // the run is that since which it was found.
  acked,  // known, and lived with
  fixed,  // mended
  noise,  // none
  reopen  // none of these any more
};

std::string_view to_string(JournalKind kind);

struct JournalEntry {
  std::size_t line = 0;  // in the file, from 1; set by reading
  std::int64_t time_ns = 0;
  std::string user;
  JournalKind kind = JournalKind::note;
  std::string run;
  std::string text;
};

struct Journal {
  std::vector<JournalEntry> entries;
  std::vector<std::string> warnings;  // lines that could not be read
};

/// Of the runs of this database.
std::filesystem::path journal_path(const std::filesystem::path& database);

/// A file that is not there is an empty journal. Throws Error(environment) when it cannot be read.
Journal read_journal(const std::filesystem::path& path);

/// One write and an fsync: entries of several writers stay whole. A line that a crash left torn is
/// closed first. Throws Error(environment).
void append(const std::filesystem::path& path, const JournalEntry& entry);

}  // namespace bench
