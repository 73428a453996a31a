// The journal: people's decisions about runs, which cannot be measured again. journal.jsonl is next
// to runs/ and append-only; the database has a copy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results/store/store.h"

namespace bench {

// Rebuilds the results database from the spools and the journal, the primary data.

struct Rebuilt {
  std::size_t runs = 0;
  /// Where a damaged database was moved; empty when there was none.
  std::filesystem::path moved_aside;
  std::vector<std::string> complaints;  // folders that hold no readable run
};

/// Finds damage that a query may not meet, such as flipped bits in pages and indexes. Takes about
/// 16 s per GB. Throws Error(environment) with the way to rebuild it; no database is fine.
void check_integrity(const std::filesystem::path& db);

/// A sound database is refilled in one transaction: readers see the old one until the new one is
/// whole. A damaged one is moved aside first ("results.sqlite.corrupt-1", with its -wal and -shm).
/// Throws Error(input) for a newer version or a foreign database, Error(environment) as Store does.
Rebuilt rebuild(const std::filesystem::path& db, const std::filesystem::path& runs_dir,
                const std::filesystem::path& journal, const StoreOptions& options = {});

enum class JournalKind {
  note,     // a remark
  discard,  // excluded from comparisons; its values are kept
  restore,  // included again
  // Decisions on a finding of `report regression` (results/verdicts/regression/decisions.h), whose
  // ID begins the text; `run` is the run since which it was found.
  acked,  // known and accepted
  fixed,  // repaired
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

/// The journal for the runs of this database.
std::filesystem::path journal_path(const std::filesystem::path& database);

/// A missing file is an empty journal. Throws Error(environment) if the file cannot be read.
Journal read_journal(const std::filesystem::path& path);

/// One write and an fsync, so that entries of several writers stay whole. A line torn by a crash is
/// closed first. Throws Error(environment).
void append(const std::filesystem::path& path, const JournalEntry& entry);

}  // namespace bench
