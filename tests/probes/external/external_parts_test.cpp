// Lines, logs, placement and words of the probe `external`.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/error.h"
#include "core/job.h"
#include "core/json.h"
#include "probes/external/follow.h"
#include "probes/external/job_folder.h"
#include "probes/external/placement.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using namespace bench::external;
using Catch::Matchers::Contains;

namespace {

using Lines = std::vector<std::string>;

Lines split(const Lines& pieces, std::size_t longest = 100) {
  Lines lines;
  LineSplitter splitter(longest);
  const auto take = [&](std::string_view line, std::size_t dropped) {
    lines.emplace_back(line);
    if (dropped > 0) lines.back() += "+" + std::to_string(dropped);
  };
  for (const std::string& piece : pieces) splitter.add(piece, take);
  splitter.finish(take);
  return lines;
}

Given given() {
  Given result;
  result.job = "01.train";
  result.seed = 7;
  result.master_address = "n1";
  result.master_port = 29500;
  result.data = "/data";
  return result;
}

}  // namespace

TEST_CASE("CR, LF and CRLF end a line, also where they come in pieces") {
  CHECK(split({"a\nb\rc\r\nd"}) == Lines{"a", "b", "c", "d"});
  CHECK(split({"a\r", "\nb"}) == Lines{"a", "b"});
  CHECK(split({"a\r", "b\n"}) == Lines{"a", "b"});
  CHECK(split({"a\n\nb"}) == Lines{"a", "", "b"});
  CHECK(split({"x", "y", "z\n"}) == Lines{"xyz"});
}

TEST_CASE("a line that is too long is cut, and how much is said") {
  CHECK(split({"0123456789\nab\n"}, 4) == Lines{"0123+6", "ab"});
  CHECK(split({"0123", "4567", "\n"}, 4) == Lines{"0123+4"});
}

TEST_CASE("a rank's log keeps both outputs line by line, and MLLOG lines are picked out") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "log";
  RankOutput output(file);
  output.add("half of a ", false, Seconds{1.0});
  output.add("warning\n", true, Seconds{2.0});
  output.add("line\n3: :::MLLOG {}\n", false, Seconds{3.0});
  output.finish(Seconds{4.0});
  CHECK(read_file(file) == "warning\nhalf of a line\n3: :::MLLOG {}\n");
  const auto followed = output.take();
  REQUIRE(followed.size() == 1);
  CHECK(followed[0].text == "3: :::MLLOG {}");
  CHECK(followed[0].arrived == Seconds{3.0});
  CHECK(output.take().empty());
  CHECK(output.last_output() == "warning | half of a line");
}

TEST_CASE("a rank's log says where lines were cut and where the file was full") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "log";
  RankOutput output(file, RankOutput::kLongestLine + 100);
  output.add(std::string(RankOutput::kLongestLine + 5, 'x') + "\n", false, Seconds{1.0});
  CHECK(output.lines_cut() == 1);
  CHECK_FALSE(output.incomplete());
  output.add(std::string(200, 'y') + "\n:::MLLOG {}\n", false, Seconds{1.0});
  CHECK(output.incomplete());
  CHECK(output.take().size() == 1);  // what is followed is not lost with the file
  CHECK_THAT(read_file(file), Contains("[truncated: 5 more bytes]\n[log truncated"));
}

TEST_CASE("one command a rank is placed as torch.distributed counts") {
  const Lines hosts = {"a", "a", "b", "b", "b"};
  const Placement placement = place(hosts, 3, Processes::one_a_rank);
  CHECK(placement.starts);
  CHECK(placement.rank == 3);
  CHECK(placement.world_size == 5);
  CHECK(placement.local_rank == 1);
  CHECK(placement.local_world_size == 3);
  CHECK(placement.node_rank == 1);
  CHECK(placement.nodes == 2);
}

TEST_CASE("one command a host is started by the host's first rank alone") {
  const Lines hosts = {"a", "b", "a", "b"};
  const Placement first = place(hosts, 1, Processes::one_a_host);
  CHECK(first.starts);
  CHECK(first.rank == 1);
  CHECK(first.world_size == 2);
  CHECK(first.local_rank == 0);
  CHECK(first.local_world_size == 1);
  CHECK_FALSE(place(hosts, 2, Processes::one_a_host).starts);
  CHECK_FALSE(place(hosts, 3, Processes::one_a_host).starts);
}

TEST_CASE("words in braces are filled in, and double braces are braces") {
  auto words = words_for(place({"a", "b"}, 1, Processes::one_a_rank), given());
  CHECK(fill("--seed={seed} {rank}/{world_size}", words, "x") == "--seed=7 1/2");
  CHECK(fill("{{\"lr\": 1}} {data}", words, "x") == "{\"lr\": 1} /data");
  CHECK_THROWS_WITH(fill("{image}", words, "argv/3"), Contains("argv/3: {image} is not set"));
  CHECK_THROWS_WITH(fill("{sed}", words, "argv/3"), Contains("{sed} is not a known placeholder"));
  for (const char* lonely : {"{", "}", "a{b", "a}b"})
    CHECK_THROWS_WITH(fill(lonely, words, "argv/3"), Contains("unmatched"));
}

TEST_CASE("a suite's own words may not change what others mean") {
  Given mine = given();
  mine.variables = {{"size", "8b"}};
  CHECK(words_for({}, mine).at("size") == "8b");
  mine.variables = {{"seed", "1"}};
  CHECK_THROWS_WITH(words_for({}, mine), Contains("variables: 'seed' is a built-in placeholder"));
}

TEST_CASE("an external command does not take itself for a rank of our own launcher") {
  const auto env = environment_for({{"OMPI_COMM_WORLD_RANK", "3"},
                                    {"PMIX_RANK", "3"},
                                    {"BENCH_GROUP_SECRET", "secret"},
                                    {"OMP_PROC_BIND", "false"},
                                    {"BENCHCTL_RUN", "mark"},
                                    {"PYTHONUNBUFFERED", "0"},
                                    {"PATH", "/bin"}},
                                   {}, given(), {{"SEED", "{seed}"}, {"PATH", "/opt/bin"}});
  for (const char* ours :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "BENCH_GROUP_SECRET", "OMP_PROC_BIND"})
    CHECK_FALSE(env.contains(ours));
  CHECK(env.at("BENCHCTL_RUN") == "mark");  // what is left behind is found by it
  CHECK(env.at("PYTHONUNBUFFERED") == "0");
  CHECK(env.at("PATH") == "/opt/bin");
  CHECK(env.at("SEED") == "7");
  CHECK(env.at("MASTER_ADDR") == "n1");
  CHECK(env.at("BENCH_MASTER_PORT") == "29500");
}

namespace {

/// Sets a variable as long as it lives; null takes it away.
struct Variable {
  std::string name;
  std::optional<std::string> former;

  Variable(const char* variable, const char* value) : name(variable) {
    if (const char* now = std::getenv(variable); now != nullptr) former = now;
    value == nullptr ? unsetenv(variable) : setenv(variable, value, 1);
  }
  ~Variable() { former ? setenv(name.c_str(), former->c_str(), 1) : unsetenv(name.c_str()); }
};

}  // namespace

TEST_CASE("a job's folder is where it was asked for, else in the run's, else a temporary one") {
  const TemporaryDirectory folder;
  const std::string here = folder.path().string();
  const Variable run_folder(kRunFolderVariable, here.c_str());
  const Variable token(kRunVariable, "run-7");
  const Variable temporary("TMPDIR", here.c_str());
  CHECK(make_job_folder(here + "/asked", "01.a") == here + "/asked/01.a");
  CHECK(make_job_folder("", "01.a") == here + "/external/01.a");
  const Variable elsewhere(kRunFolderVariable, "/nowhere/of/ours");
  const std::string own = here + "/benchctl-" + std::to_string(geteuid());
  CHECK(make_job_folder("", "01.a") == own + "/run-7/01.a");
  CHECK(std::filesystem::is_directory(own + "/run-7/01.a"));
  CHECK_THROWS_WITH(make_job_folder("/proc/nothing", "01.a"), Contains("/proc/nothing/01.a"));
}

TEST_CASE("a job's temporary folder is not one that others prepared") {
  const TemporaryDirectory folder;
  const auto run = folder.path() / "run", target = folder.path() / "target";
  std::filesystem::create_directories(run);
  std::filesystem::create_directories(target);
  std::filesystem::permissions(run, std::filesystem::perms::all);
  std::filesystem::create_directory_symlink(
      target, folder.path() / ("benchctl-" + std::to_string(geteuid())));
  const Variable run_folder(kRunFolderVariable, run.c_str());
  const Variable token(kRunVariable, "run-7");
  const Variable temporary("TMPDIR", folder.path().c_str());
  CHECK_THROWS_WITH(make_job_folder("", "01.a"), Contains("it is a symbolic link"));
  CHECK(std::filesystem::is_empty(target));
  CHECK(std::filesystem::is_empty(run));
}

TEST_CASE("a rank's log is not written through a link") {
  const TemporaryDirectory folder;
  const auto victim = folder.path() / "victim", log = folder.path() / "rank-0000.log";
  std::ofstream(victim) << "kept";
  std::filesystem::create_symlink(victim, log);
  CHECK_THROWS_WITH(RankOutput(log), Contains("rank-0000.log"));
  CHECK(std::filesystem::file_size(victim) == 4);
}

TEST_CASE("processes of several hosts meet where the launcher knows the first one") {
  const Variable rendezvous("BENCH_RENDEZVOUS", "10.0.0.1");
  CHECK(master_address("", {"a", "a"}) == "127.0.0.1");
  CHECK(master_address("", {"a", "b"}) == "10.0.0.1");
  CHECK(master_address("n9", {"a", "b"}) == "n9");
  const Variable none("BENCH_RENDEZVOUS", nullptr);
  CHECK(master_address("", {"a", "b"}) == "a");
  CHECK(free_port() > 0);
}
