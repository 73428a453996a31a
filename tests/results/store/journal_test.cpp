#include "results/store/journal.h"

#include "core/error.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

TEST_CASE("journal decisions are read back in order") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "journal.jsonl";
  append(path, {0, 17, "ann", JournalKind::discard, "run-1", "fan\n\"broken\""});
  append(path, {0, 18, "bob", JournalKind::note, "run-2", "\xff"});
  const Journal journal = read_journal(path);
  CHECK(journal.warnings.empty());
  REQUIRE(journal.entries.size() == 2);
  CHECK(journal.entries[0].text == "fan\n\"broken\"");
  CHECK(journal.entries[0].kind == JournalKind::discard);
  CHECK(journal.entries[0].time_ns == 17);
  CHECK(journal.entries[1].line == 2);
  CHECK(journal.entries[1].user == "bob");
}

TEST_CASE("an entry after a torn line stays whole, and the torn one is reported") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "journal.jsonl";
  append(path, {0, 1, "ann", JournalKind::note, "r", "first"});
  write_text(path, read_file(path) + "{\"time_ns\": 2, \"us");
  append(path, {0, 3, "ann", JournalKind::note, "r", "third"});
  const Journal journal = read_journal(path);
  REQUIRE(journal.entries.size() == 2);
  CHECK(journal.entries[1].text == "third");
  REQUIRE(journal.warnings.size() == 1);
  CHECK(journal.warnings[0].find("unreadable line 2") != std::string::npos);
}

TEST_CASE("a journal that does not exist is empty; one that cannot be written is an error") {
  const TemporaryDirectory folder;
  CHECK(read_journal(folder.path() / "none").entries.empty());
  write_text(folder.path() / "file", "x");
  CHECK_THROWS_AS(append(folder.path() / "file" / "journal.jsonl", {}), Error);
}

TEST_CASE("an entry of an unknown kind is skipped") {
  const TemporaryDirectory folder;
  write_text(folder.path() / "j", R"({"kind": "maybe", "run": "r"})"
                                  "\n[]\n");
  const Journal journal = read_journal(folder.path() / "j");
  CHECK(journal.entries.empty());
  CHECK(journal.warnings.size() == 2);
}
