#include "core/error.h"
#include "results/store/journal.h"
#include "tests/results/database.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
namespace fs = std::filesystem;

namespace {

/// A state directory with three runs, one of them torn, and a journal, all of it imported.
struct State {
  TemporaryDirectory folder;
  fs::path db = folder.path() / "results.sqlite";
  fs::path runs = folder.path() / "runs";
  fs::path journal = folder.path() / "journal.jsonl";
  std::vector<std::string> rows;

  State() {
    Store store = Store::open(db, Access::write);
    for (int i = 0; i < 3; ++i) {
      RunFixture run("run-" + std::to_string(i));
      run.job("a", "gemm", "gemm")
          .add("a", samples("throughput", 1e9 + i, 30 + static_cast<std::size_t>(i)));
      run.plan["gates"] = {{"gemm", {{{"metric", "throughput"}, {"min", 1.0}}}}};
      if (i < 2) run.outcome("a").end();
      if (i == 2) run.lines += "{\"torn";
      store.import_run(run.write(runs));
    }
    append(journal, {0, 5, "ann", JournalKind::discard, "run-1", "fan, \"broken\""});
    store.import_journal(journal);
    rows = logical_dump(db);
  }
};

}  // namespace

TEST_CASE("rebuild makes the same database from the spools and the journal, row by row") {
  State state;
  CHECK(state.rows.size() > 10);
  fs::remove(state.db);
  CHECK(rebuild(state.db, state.runs, state.journal).runs == 3);
  CHECK(logical_dump(state.db) == state.rows);
  CHECK(rebuild(state.db, state.runs, state.journal).moved_aside.empty());  // over a sound one
  CHECK(logical_dump(state.db) == state.rows);
}

TEST_CASE("rebuild discards manual changes") {
  State state;
  SQLite::Database(state.db, SQLite::OPEN_READWRITE)
      .exec("UPDATE series SET median = 1; DROP TABLE job");
  rebuild(state.db, state.runs, state.journal);
  CHECK(logical_dump(state.db) == state.rows);
}

TEST_CASE("a corrupt database is moved aside with its log, and kept") {
  State state;
  const std::string garbage = "garbage " + std::string(8192, 'x');
  for (const int number : {1, 2}) {
    write_text(state.db, garbage);
    write_text(state.db.string() + "-wal", "old log");
    const Rebuilt rebuilt = rebuild(state.db, state.runs, state.journal);
    CHECK(rebuilt.moved_aside == state.db.string() + ".corrupt-" + std::to_string(number));
    CHECK(read_file(rebuilt.moved_aside) == garbage);
    CHECK(read_file(rebuilt.moved_aside.string() + "-wal") == "old log");
    CHECK(logical_dump(state.db) == state.rows);
  }
}

TEST_CASE("damage inside a page is found before anything is written") {
  State state;
  std::string bytes = read_file(state.db);
  REQUIRE(bytes.size() > 5 * 4096);
  for (std::size_t i = 4096; i < bytes.size(); i += 4096)
    bytes.replace(i, 64, std::string(64, '\x55'));
  write_text(state.db, bytes);
  const Rebuilt rebuilt = rebuild(state.db, state.runs, state.journal);
  CHECK_FALSE(rebuilt.moved_aside.empty());
  CHECK(logical_dump(state.db) == state.rows);
}

TEST_CASE("an older version is replaced, a newer one is left alone") {
  State state;
  SQLite::Database(state.db, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = -1");
  rebuild(state.db, state.runs, state.journal);
  CHECK(logical_dump(state.db) == state.rows);
  SQLite::Database(state.db, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  CHECK_THROWS_AS(rebuild(state.db, state.runs, state.journal), Error);
  CHECK(logical_dump(state.db) == state.rows);
}

TEST_CASE("a folder that is not a run is reported, and the others are imported") {
  State state;
  fs::create_directories(state.runs / "lost+found");
  const Rebuilt rebuilt = rebuild(state.db, state.runs, state.journal);
  REQUIRE(rebuilt.complaints.size() == 1);
  CHECK(rebuilt.complaints[0].find("lost+found") != std::string::npos);
  CHECK(rebuilt.runs == 3);
}

TEST_CASE("rebuilding from nothing gives an empty database") {
  const TemporaryDirectory folder;
  const Rebuilt rebuilt = rebuild(folder.path() / "results.sqlite", folder.path() / "runs",
                                  folder.path() / "journal.jsonl");
  CHECK(rebuilt.runs == 0);
  CHECK(Store::open(folder.path() / "results.sqlite", Access::read).runs().empty());
}
