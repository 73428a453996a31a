#include "results/store/store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "core/error.h"
#include "results/store/journal.h"
#include "tests/results/database.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
namespace fs = std::filesystem;

namespace {

RunFixture demo(const std::string& id = "20261120T183005Z-demo-0001") {
  RunFixture run(id);
  run.job("a", "gemm", "gemm", {{"dtype", "f32"}});
  run.add("a", samples("throughput", 1e9, 20, {{"m", 512}, {"dtype", "f32"}}));
  run.add("a", Phase{"prepare", 0.5}).add("a", Event{"note", {{"x", 1}}});
  run.add("a", Chunk{"telemetry", {{"time_s", {0.0, 1.0}}}}).add("", Facts{"host", {{"cores", 2}}});
  return run.outcome("a").end();
}

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return Error(ErrorKind::internal, "");
}

const auto kOnNetwork = [](const fs::path&) { return true; };

/// Permissions do not restrict root, so tests run as root drop privileges temporarily.
class WithoutRights {
 public:
  WithoutRights() : was_root_(geteuid() == 0) {
    if (was_root_ && seteuid(65534) != 0) throw std::runtime_error("seteuid failed");
  }
  ~WithoutRights() {
    if (was_root_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

}  // namespace

TEST_CASE("an imported run is in every table") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "state" / "results.sqlite";
  Store store = Store::open(db, Access::write);
  store.import_run(demo().write(folder.path() / "runs"));
  CHECK(
      ask(db, "SELECT COUNT(*) FROM run WHERE suite = 'demo' AND outcome = 'ok' AND results = 1") ==
      1);
  CHECK(ask(db, "SELECT COUNT(*) FROM job WHERE outcome = 'ok' AND seconds = 1.5") == 1);
  CHECK(
      ask(db,
          "SELECT COUNT(*) FROM series WHERE metric = 'gemm.throughput' AND n = 20 AND clean = 20 "
          "AND params = '{\"dtype\":\"f32\",\"m\":512}' AND p99 IS NULL AND limit_value IS NULL") ==
      1);
  CHECK(ask(db, "SELECT COUNT(*) FROM event WHERE key = 'note' AND value = '{\"x\":1}'") == 1);
  CHECK(ask(db, "SELECT COUNT(*) FROM facts WHERE topic = 'host'") == 1);
  CHECK(ask_text(db, "PRAGMA journal_mode") == "wal");
  CHECK(ask(db, "PRAGMA user_version") == 4);
}

TEST_CASE("importing a run again replaces it") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  const fs::path run = demo().write(folder.path() / "runs");
  Store store = Store::open(db, Access::write);
  store.import_run(run);
  const auto once = logical_dump(db);
  store.import_run(run);
  CHECK(logical_dump(db) == once);

  RunFixture more = demo();
  more.job("b", "null", "null").add("b", samples("time", 1.0)).outcome("b");
  store.import_run(more.write(folder.path() / "runs"));
  CHECK(ask(db, "SELECT COUNT(*) FROM series") == 2);
  CHECK(ask(db, "SELECT COUNT(*) FROM run") == 1);
}

TEST_CASE("concurrent imports lose nothing") {
  for (const bool network : {false, true}) {
    const TemporaryDirectory folder;
    const fs::path db = folder.path() / "results.sqlite";
    constexpr int kImports = 50;
    std::vector<pid_t> children;
    for (const char* who : {"a", "b"}) {
      for (int i = 0; i < kImports; ++i)
        demo(who + std::to_string(i)).write(folder.path() / "runs");
      const pid_t child = fork();
      if (child == 0) {
        int code = 0;
        try {
          StoreOptions options;
          if (network) options.is_network = kOnNetwork;
          for (int i = 0; i < kImports; ++i)
            Store::open(db, Access::write, options)
                .import_run(folder.path() / "runs" / (who + std::to_string(i)));
        } catch (const std::exception& error) {
          std::fprintf(stderr, "importer %s: %s\n", who, error.what());
          code = 1;
        }
        _exit(code);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = -1;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
    CHECK(ask(db, "SELECT COUNT(*) FROM run") == 2 * kImports);
    CHECK(ask(db, "SELECT COUNT(*) FROM series") == 2 * kImports);
    CHECK(ask_text(db, "PRAGMA journal_mode") == (network ? "delete" : "wal"));
  }
}

TEST_CASE("on a network file system there is no WAL, and a second writer waits for the first") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  StoreOptions options;
  options.is_network = kOnNetwork;
  options.busy_timeout_ms = 20;
  options.attempts = 1;
  Store store = Store::open(db, Access::write, options);
  CHECK(store.on_network());
  CHECK(ask_text(db, "PRAGMA journal_mode") == "delete");
  const fs::path run = demo().write(folder.path() / "runs");
  {
    const FileLock other(folder.path() / "results.sqlite.lock", std::chrono::milliseconds(0));
    const Error error = error_of([&] { store.import_run(run); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(std::string(error.what()).find("process " + std::to_string(getpid())) !=
          std::string::npos);
    CHECK(error.hint().find("rebuild") != std::string::npos);
  }
  CHECK_NOTHROW(store.import_run(run));
}

TEST_CASE("shared file systems are recognised by their magic numbers") {
  for (const std::uint32_t type : {0x6969u, 0xff534d42u, 0x0bd00bd0u, 0x47504653u, 0x65735546u,
                                   0x00c36400u, 0x19830326u, 0x01021997u})
    CHECK(is_network_type(type));
  for (const std::uint32_t type : {0xef53u, 0x58465342u, 0x01021994u, 0x794c7630u, 0x9123683eu})
    CHECK_FALSE(is_network_type(type));
}

TEST_CASE(
    "a database of version 3 gets new metric names and loses unread tables when it is opened") {
  for (const Access access : {Access::read, Access::write}) {
    const TemporaryDirectory folder;
    const fs::path db = folder.path() / "results.sqlite";
    RunFixture run;
    run.job("a", "burn", "burn").add("a", samples("sustained_ratio", 0.99, 20)).outcome("a").end();
    Store::open(db, Access::write).import_run(run.write(folder.path() / "runs"));
    {
      SQLite::Database old(db, SQLite::OPEN_READWRITE);
      for (const char* table : {"series", "history"})
        CHECK(old.exec(std::string("UPDATE ") + table + " SET metric = 'burn.kept'") == 1);
      old.exec("CREATE TABLE sample_blob (run TEXT)");
      old.exec("PRAGMA user_version = 3");
    }
    const Store store = Store::open(db, access);
    REQUIRE(store.metrics().size() == 1);
    CHECK(store.metrics()[0].metric == "burn.sustained_ratio");
    CHECK(ask(db, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'sample_blob'") == 0);
    for (const char* table : {"series", "history"})
      CHECK(ask(db, (std::string("SELECT COUNT(*) FROM ") + table +
                     " WHERE metric = 'burn.sustained_ratio'")
                        .c_str()) == 1);
    CHECK(ask(db, "PRAGMA user_version") == 4);
  }
}

TEST_CASE("a database of a newer version is refused with both versions and a hint") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  Store::open(db, Access::write);
  SQLite::Database(db, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 7");
  for (const Access access : {Access::read, Access::write, Access::rebuild}) {
    const Error error = error_of([&] { Store::open(db, access); });
    CHECK(error.kind() == ErrorKind::input);
    CHECK(std::string(error.what()).find("version 7") != std::string::npos);
    CHECK(std::string(error.what()).find("up to 4") != std::string::npos);
    CHECK(error.hint().find("newer benchctl") != std::string::npos);
  }
  CHECK(ask(db, "PRAGMA user_version") == 7);
}

TEST_CASE("a foreign database is not touched") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "mail.sqlite";
  SQLite::Database(db, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE run (id TEXT)");
  for (const Access access : {Access::read, Access::write, Access::rebuild})
    CHECK(error_of([&] { Store::open(db, access); }).kind() == ErrorKind::input);
  CHECK(ask_text(db, "PRAGMA journal_mode") == "delete");
  CHECK(ask(db, "SELECT COUNT(*) FROM sqlite_master") == 1);
}

TEST_CASE("a corrupt database is reported with a hint") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  write_text(db, "this is no database, but it is long enough to be taken for one: " +
                     std::string(4096, 'x'));
  for (const Access access : {Access::read, Access::write}) {
    const Error error = error_of([&] { Store::open(db, access); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(std::string(error.what()).find(db.string()) != std::string::npos);
    CHECK(error.hint().find("benchctl rebuild") != std::string::npos);
  }
}

TEST_CASE("reading a missing or empty database is an error with a hint") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  CHECK(error_of([&] { Store::open(db, Access::read); }).kind() == ErrorKind::input);
  CHECK_FALSE(fs::exists(db));
  write_text(db, "");
  CHECK(error_of([&] { Store::open(db, Access::read); }).hint().find("benchctl run") !=
        std::string::npos);
}

TEST_CASE("a full disk is reported, changes nothing and leaves the spool") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  Store::open(db, Access::write).import_run(demo().write(folder.path() / "runs"));
  const auto before = logical_dump(db);

  StoreOptions full;
  full.tune = [](SQLite::Database& connection) {
    connection.exec("PRAGMA max_page_count = 1");  // SQLite takes the present size as the least
  };
  RunFixture big("20261121T000000Z-demo-0002");
  big.job("a", "gemm", "gemm");
  for (int i = 0; i < 200; ++i) big.add("a", samples("throughput", 1.0, 200, {{"m", i}}));
  const fs::path spool = big.outcome("a").write(folder.path() / "runs");
  Store store = Store::open(db, Access::write, full);
  const Error error = error_of([&] { store.import_run(spool); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()).find("full") != std::string::npos);
  CHECK(error.hint().find("spool") != std::string::npos);
  CHECK(error.hint().find("rebuild") != std::string::npos);
  CHECK(logical_dump(db) == before);
  CHECK(read_run(spool).records.size() == 201);
}

TEST_CASE("a folder that cannot be created or written is an environment error") {
  const TemporaryDirectory folder;
  write_text(folder.path() / "file", "x");
  const Error below_a_file =
      error_of([&] { Store::open(folder.path() / "file" / "results.sqlite", Access::write); });
  CHECK(below_a_file.kind() == ErrorKind::environment);
  CHECK(std::string(below_a_file.what()).find("file") != std::string::npos);

  fs::permissions(folder.path(), fs::perms(0555));
  {
    const WithoutRights rights;
    const Error read_only =
        error_of([&] { Store::open(folder.path() / "results.sqlite", Access::write); });
    CHECK(read_only.kind() == ErrorKind::environment);
    CHECK(read_only.hint().find("rebuild") != std::string::npos);
  }
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("a database in a read-only folder can be read") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "a ?%#.sqlite";
  Store::open(db, Access::write).import_run(demo().write(folder.path() / "runs"));
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const WithoutRights rights;
    CHECK(Store::open(db, Access::read).runs().size() == 1);
  }
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("runs are listed newest first, with the last journal decision") {
  const TemporaryDirectory folder;
  const fs::path journal = folder.path() / "journal.jsonl";
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  for (int day = 0; day < 3; ++day) {
    RunFixture run =
        demo("2026112" + std::to_string(day) + "T000000Z-demo-000" + std::to_string(day));
    run.plan["time_ns"] = start_ns() + day;
    store.import_run(run.write(folder.path() / "runs"));
  }
  CHECK(store.latest_run() == "20261122T000000Z-demo-0002");
  const auto decide = [&](JournalKind kind, const std::string& run, const std::string& text) {
    append(journal, {0, 1, "ann", kind, run, text});
    store.import_journal(journal);
  };
  decide(JournalKind::discard, "20261120T000000Z-demo-0000", "fan was broken");
  decide(JournalKind::note, "20261120T000000Z-demo-0000", "really");
  decide(JournalKind::discard, "20261121T000000Z-demo-0001", "mistake");
  decide(JournalKind::restore, "20261121T000000Z-demo-0001", "sorry");
  const auto runs = store.runs();
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].id == "20261122T000000Z-demo-0002");
  CHECK(runs[0].hosts == std::vector<std::string>{"node1"});
  CHECK(runs[0].labels["driver"] == "550");
  CHECK(runs[0].outcome == "ok");
  CHECK(runs[0].results == 1);
  CHECK(runs[0].seconds == Approx(12.25));
  CHECK_FALSE(runs[0].discarded);
  CHECK_FALSE(runs[1].discarded);
  CHECK(runs[2].discarded == "fan was broken");
}

TEST_CASE("a run is found by ID prefix; ambiguous or unknown prefixes are explained") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  CHECK(error_of([&] { store.find_run("x"); }).hint().find("benchctl run") != std::string::npos);
  for (const char* id :
       {"20261120T000000Z-demo-0001", "20261120T000000Z-demo-0002", "20261121T000000Z-demo-0003"})
    store.import_run(demo(id).write(folder.path() / "runs"));
  CHECK(store.find_run("20261121") == "20261121T000000Z-demo-0003");
  CHECK(store.find_run("latest") == "20261121T000000Z-demo-0003");
  const Error ambiguous = error_of([&] { store.find_run("20261120"); });
  CHECK(ambiguous.kind() == ErrorKind::input);
  CHECK(ambiguous.hint().find("demo-0001") != std::string::npos);
  CHECK(ambiguous.hint().find("demo-0002") != std::string::npos);
  const Error unknown = error_of([&] { store.find_run("20261121T000000Z-demo-0004"); });
  CHECK(std::string(unknown.what()).find("Did you mean") != std::string::npos);
  CHECK_THROWS_AS(store.find_run(""), Error);
  CHECK_THROWS_AS(store.find_run("%"), Error);  // no wildcard
}

TEST_CASE("the catalogue names every metric with its unit and parameters") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  store.import_run(demo("a").write(folder.path() / "runs"));
  store.import_run(demo("b").write(folder.path() / "runs"));
  const auto metrics = store.metrics();
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].metric == "gemm.throughput");
  CHECK(metrics[0].unit == "FLOP/s");
  CHECK(metrics[0].better == "higher");
  CHECK(metrics[0].params == std::vector<std::string>{"dtype", "m"});
  CHECK(metrics[0].runs == 2);
  CHECK(metrics[0].hosts == 1);
  CHECK(metrics[0].series == 2);
}

// How long 80,000 take: scripts/evidence cluster_scale.
TEST_CASE("a run of a thousand jobs is imported whole") {
  const TemporaryDirectory folder;
  RunFixture run;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = std::to_string(i);
    run.job(id, "null", "null")
        .add(id, samples("time", 1.0, 20))
        .add(id, Phase{"measure", 0.1})
        .outcome(id);
  }
  const fs::path spool = run.write(folder.path() / "runs");
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  const RunSummary report = store.import_run(spool);
  CHECK(report.jobs.size() == 1000);
  CHECK(report.results.size() == 1000);
}

TEST_CASE("a database with views, triggers or virtual tables is refused before a query runs them") {
  for (const char* sql :
       {"DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
        "1 FROM n) SELECT i AS id FROM n",
        "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM run; END",
        "CREATE VIRTUAL TABLE v USING fts5(x)"}) {
    const TemporaryDirectory folder;
    const fs::path db = folder.path() / "results.sqlite";
    Store::open(db, Access::write);
    try {
      SQLite::Database(db, SQLite::OPEN_READWRITE).exec(sql);
    } catch (const SQLite::Exception&) {
      continue;  // this SQLite has no such module
    }
    for (const Access access : {Access::read, Access::write, Access::rebuild}) {
      const Error error = error_of([&] { Store::open(db, access); });
      CHECK(error.kind() == ErrorKind::input);
      CHECK_THAT(error.what(), Catch::Contains("which benchctl never creates"));
    }
    CHECK(error_of([&] { Store::check(db); }).kind() == ErrorKind::input);
  }
}

TEST_CASE("the schema of a database calls no functions with side effects") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  const Store store = Store::open(db, Access::write);
  CHECK(store.database().execAndGet("PRAGMA trusted_schema").getInt() == 0);
  const Store reader = Store::open(db, Access::read);
  CHECK(reader.database().execAndGet("PRAGMA trusted_schema").getInt() == 0);
}

TEST_CASE("a database that could not take a run is refused beforehand") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  CHECK_NOTHROW(Store::check(db));
  CHECK_FALSE(fs::exists(db));
  CHECK(error_of([&] { Store::check(folder.path()); }).kind() == ErrorKind::input);
  CHECK(error_of([&] { Store::check("/dev/null"); }).kind() == ErrorKind::input);
  Store::open(db, Access::write).import_journal(folder.path() / "none");
  CHECK_NOTHROW(Store::check(db));
  const fs::path foreign = folder.path() / "foreign.sqlite";
  SQLite::Database(foreign, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE mail (text)");
  CHECK(error_of([&] { Store::check(foreign); }).kind() == ErrorKind::input);
  write_text(folder.path() / "notes.txt", std::string(4096, 'x'));
  CHECK(error_of([&] { Store::check(folder.path() / "notes.txt"); }).kind() ==
        ErrorKind::environment);
}

TEST_CASE("a database that may only be read is refused before measuring") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  Store::open(db, Access::write);
  fs::permissions(db, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms::all);
  const WithoutRights without;
  const Error error = error_of([&] { Store::check(db); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK_THAT(error.what(), Catch::Contains("cannot be written"));
}

TEST_CASE("a database that another process is writing is not refused") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  const Store store = Store::open(db, Access::write);
  SQLite::Transaction writing(store.database(), SQLite::TransactionBehavior::IMMEDIATE);
  StoreOptions hasty;
  hasty.busy_timeout_ms = 10;
  CHECK_NOTHROW(Store::check(db, hasty));
}

TEST_CASE("an index that contradicts its table is found, with the way to rebuild") {
  const TemporaryDirectory folder;
  const fs::path db = folder.path() / "results.sqlite";
  {
    const RunFixture run = demo();
    run.write(folder.path() / "runs");
    Store::open(db, Access::write).import_run(folder.path() / "runs" / run.id());
  }
  CHECK_NOTHROW(check_integrity(db));
  const std::int64_t series =
      ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 'series_by_metric'") - 1;
  const std::int64_t size = ask(db, "PRAGMA page_size");
  std::string bytes = read_file(db);
  const auto at = bytes.find("throughput", static_cast<std::size_t>(series * size));
  REQUIRE(at < static_cast<std::size_t>((series + 1) * size));
  bytes[at] ^= 1;
  write_text(db, bytes);
  const Error error = error_of([&] { check_integrity(db); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK_THAT(error.hint(), Catch::Contains("benchctl rebuild"));
  CHECK_NOTHROW(check_integrity(folder.path() / "none"));
}
