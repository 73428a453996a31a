// Files that are not what they should be, and descriptors that are missing: nothing waits for ever,
// and nothing that was received is lost.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/record.h"
#include "tests/process/nightly_bench.h"
#include "tests/results/database.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// Runs benchctl by a shell, whose redirections and limits `around` has: "exec %s >&-".
Answer run_by_shell(const BenchctlFolder& bench, const std::string& around,
                    const std::vector<std::string>& arguments) {
  std::string command = "'" + (program_folder() / "benchctl").string() + "'";
  for (const std::string& word : arguments) command += " '" + word + "'";
  std::string text = around;
  text.replace(text.find("%s"), 2, command);
  return Program({{"/bin/sh", "-c", text}, {{"BENCHCTL_DB", bench.database.string()}}}).wait();
}

std::vector<std::string> measuring(const BenchctlFolder& bench, const Json& env = Json::object()) {
  const auto suite = bench.folder.path() / "one.json";
  std::ofstream(suite) << Json{{"suite", "one"},
                               {"cases", {{{"name", "one"}, {"probe", "null"}, {"env", env}}}}};
  return {"run", suite.string(), "--rank-program", (program_folder() / "faulty_rank").string()};
}

}  // namespace

TEST_CASE("with stdin, stdout or stderr closed, files receive only what is theirs") {
  for (const char* around :
       {"exec %s <&-", "exec %s >&-", "exec %s 2>&-", "exec %s <&- >&- 2>&-"}) {
    const BenchctlFolder bench;
    INFO(around);
    const Answer run = run_by_shell(bench, around, measuring(bench));
    const bool silent = std::string(around).find(">&- ") != std::string::npos ||
                        std::string(around).ends_with(" >&-");
    CHECK(run.exit.text() == (silent ? "exit code 4" : "exit code 0"));
    std::size_t lines = 0;
    std::istringstream records(bench.records_text());
    for (std::string line; std::getline(records, line);) {
      CHECK(try_parse_json(line));
      ++lines;
    }
    CHECK(lines > 3);
    CHECK_NOTHROW(read_json(bench.records().parent_path() / "plan.json"));
  }
}

TEST_CASE("named pipes, devices and folders given as files are refused at once") {
  const BenchctlFolder bench;
  const std::string pipe = (bench.folder.path() / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string folder = (bench.folder.path() / "folder").string(), suite = bench.suite({""});
  std::filesystem::create_directory(folder);
  REQUIRE(bench.run(measuring(bench)).exit.text() == "exit code 0");  // runs/ is next to them
  for (const std::string& file : {pipe, std::string("/dev/zero"), folder})
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"import", "csv", file},
                                               {"plan", suite, "--hosts", file},
                                               {"compare", file, file},
                                               {"import", "hostfile", file},
                                               {"show", "--db", file},
                                               {"runs", "--db", file},
                                               {"rebuild", "--db", file},
                                               {"run", suite, "--db", file}}) {
      const Answer answer = run_by_shell(bench, "ulimit -t 20; exec timeout 20 %s", words);
      INFO(words[0] << " " << file << ": " << answer.err);
      CHECK((answer.exit.text() == "exit code 2" || answer.exit.text() == "exit code 4"));
      CHECK(answer.seconds < 10.0);
      CHECK_THAT(answer.err, Contains("error: "));
    }
  const Answer log = run_by_shell(bench, "exec timeout 20 %s", {"mlperf", "check", pipe});
  CHECK(log.exit.text() != "exit code 124");
}

TEST_CASE("a database that cannot take the run is refused before anything is measured") {
  const BenchctlFolder bench;
  const auto refused = [&](const std::string& database) {
    std::vector<std::string> words = measuring(bench);
    words.insert(words.end(), {"--db", database});
    const Answer run = bench.run(words);
    INFO(run.err);
    CHECK_FALSE(std::filesystem::exists(bench.folder.path() / "runs"));
    CHECK(run.out.empty());
    return run.exit.text();
  };
  const auto foreign = bench.folder.path() / "mail.sqlite";
  SQLite::Database(foreign, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE m (x)");
  CHECK(refused(foreign.string()) == "exit code 2");
  std::filesystem::create_directory(bench.folder.path() / "folder");
  CHECK(refused((bench.folder.path() / "folder").string()) == "exit code 2");
  std::ofstream(bench.folder.path() / "notes.txt") << std::string(5000, 'x');
  CHECK(refused((bench.folder.path() / "notes.txt").string()) == "exit code 4");
}

TEST_CASE("when records cannot be written, the run ends with the command that resumes it") {
  const BenchctlFolder bench;
  const auto values = bench.folder.path() / "values.txt";
  std::ofstream(values) << "100";  // 400 samples
  // Files of at most 4 KiB, as on a disk that is almost full.
  const Answer run = run_by_shell(bench, "trap '' XFSZ; ulimit -f 8; exec %s",
                                  measuring(bench, {{"FAULTY_RANK_VALUES", values.string()}}));
  INFO(run.err);
  CHECK(run.exit.text() == "exit code 4");
  const std::string id = bench.records().parent_path().filename().string();
  CHECK_THAT(run.err, Contains("records.jsonl") && Contains("benchctl resume " + id));
  CHECK(bench.records_text().ends_with("\n"));
  const Answer resumed =
      bench.run({"resume", id, "--rank-program", (program_folder() / "faulty_rank").string()});
  INFO(resumed.err);
  CHECK(resumed.exit.clean());
}

#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes of addresses
TEST_CASE("when memory runs out, the answer is an error and never a shorter one") {
  const BenchctlFolder bench;
  const auto values = bench.folder.path() / "values.txt";
  std::ofstream(values) << "100";  // 400 samples
  REQUIRE(bench.run(measuring(bench, {{"FAULTY_RANK_VALUES", values.string()}})).exit.clean());
  const std::string text = bench.records_text();
  const auto begin = text.rfind('\n', text.find("\"kind\":\"samples\"")) + 1;
  const std::string line = text.substr(begin, text.find('\n', begin) + 1 - begin);
  std::ofstream records(bench.records(), std::ios::app);
  const Json facts =
      to_json(Record{"", "fake", 0, 1, Facts{"many", {{"text", std::string(8000, 'x')}}}});
  for (int i = 0; i < 2000; ++i) records << dump(facts) << '\n';  // 16 MB
  for (int i = 0; i < 50; ++i) {
    std::string other = line;
    records << other.replace(other.find("\"value\""), 7, "\"value" + std::to_string(i) + "\"");
  }
  records.close();
  const std::vector<std::string> words = {"export", "csv", "latest"};
  const std::string whole = bench.run(words).out;
  REQUIRE(std::ranges::count(whole, '\n') > 50);
  int refused = 0;
  for (int kilobytes = 20'000; kilobytes <= 90'000; kilobytes += 10'000) {
    const Answer answer =
        run_by_shell(bench, "ulimit -v " + std::to_string(kilobytes) + "; exec %s", words);
    INFO(kilobytes << " KB: " << answer.exit.text() << ": " << answer.err);
    if (answer.exit.clean()) {
      CHECK(answer.out == whole);
    } else if (answer.err.find("shared libraries") == std::string::npos) {
      CHECK(answer.exit.text() == "exit code 4");
      CHECK_THAT(answer.err, Contains("not enough memory"));
      ++refused;
    }
  }
  CHECK(refused > 0);
}
#endif

TEST_CASE("prune leaves a run alone whose records end in the middle of a line") {
  const NightAfterNine bench;
  const auto records = bench.records();
  const std::string whole = read_file(records);
  const std::string torn = whole.substr(0, whole.size() - 20);
  std::ofstream(records, std::ios::binary | std::ios::trunc) << torn;
  const std::vector<std::string> prune = {"nightly", "prune", "--older", "0.001s", "--keep", "5"};
  const Answer first = bench.run(prune);
  CHECK(first.exit.text() == "exit code 4");
  const std::string id = records.parent_path().filename().string();
  CHECK_THAT(first.err,
             Contains(id) && Contains("middle of a line") && Contains("benchctl resume"));
  CHECK_THAT(first.out, Contains("in 8 runs"));
  CHECK(read_file(records) == torn);
  CHECK(bench.run({"resume", id}).exit.clean());
  CHECK(read_file(records) == torn.substr(0, torn.rfind('\n') + 1));
  CHECK(bench.run(prune).exit.clean());
}

TEST_CASE("a night does not judge by a database with flipped bits") {
  const NightAfterNine bench;
  const std::int64_t page =
      ask(bench.database, "SELECT rootpage FROM sqlite_master WHERE name = 'series_by_metric'");
  const std::int64_t size = ask(bench.database, "PRAGMA page_size");
  std::string bytes = read_file(bench.database);
  const auto at = bytes.find("null.value", static_cast<std::size_t>((page - 1) * size));
  REQUIRE(at < static_cast<std::size_t>(page * size));
  bytes[at] ^= 1;
  std::ofstream(bench.database, std::ios::binary | std::ios::trunc) << bytes;
  bench.tell("100");
  const Answer night = bench.night();
  CHECK(night.exit.text() == "exit code 4");
  CHECK_THAT(night.err, Contains("corrupt") && Contains("benchctl rebuild"));
  CHECK_THAT(bench.run({"rebuild"}).err, !Contains("error"));
  CHECK(bench.night().exit.clean());
}
