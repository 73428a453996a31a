// benchctl report scaling and fleet as users run them: kept runs in, text, JSON and a page out, and
// an exit code that says whether anything could be concluded.
#include <algorithm>
#include <regex>
#include <set>

#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("reports of one run on one host are inconclusive and name what is missing") {
  const BenchctlFolder bench;
  REQUIRE(bench.start_suite({"", ""}).wait().exit.clean());
  const auto page = (bench.folder.path() / "page.html").string();
  const Answer scaling = bench.run({"report", "scaling", "--html", page});
  CHECK(scaling.exit.text() == "exit code 3");
  CHECK_THAT(scaling.out, Contains("No metric was measured at two values of ranks"));
  CHECK_THAT(read_file(page), Contains("<title>Scaling: NOT MEASURED</title>"));
  const Answer fleet = bench.run({"report", "fleet", "--json", "--html", page});
  CHECK(fleet.exit.text() == "exit code 3");
  const Json json = parse_json(fleet.out, "fleet");
  CHECK(json["verdict"] == "inconclusive");
  REQUIRE(json["hosts"].size() == 1);
  CHECK_THAT(json["hosts"][0]["reasons"][0].get<std::string>(),
             Contains("peer comparison needs 4"));
  CHECK_THAT(read_file(page), Contains("<title>Fleet: INCONCLUSIVE</title>"));
}

TEST_CASE("reports take the runs of a label, and name one that nobody has") {
  const BenchctlFolder bench;
  for (const char* kernel : {"kernel=old", "kernel=new", "kernel=new"}) {
    const Answer run = bench.run({"run", bench.suite({""}), "--label", kernel, "--rank-program",
                                  (program_folder() / "faulty_rank").string()});
    REQUIRE(run.exit.clean());
  }
  const auto ids = all_runs(bench.folder.path() / "runs");
  const std::vector<std::filesystem::path> found = find_runs(bench.database, {"label:kernel=new"});
  REQUIRE(found.size() == 2);
  CHECK(found[0].filename() == ids[1]);
  CHECK(find_runs(bench.database, {"latest", "label:kernel=new"}).front().filename() == ids[2]);
  // One host is no curve, but the label was understood.
  const Answer scaling = bench.run({"report", "scaling", "label:kernel=new"});
  CHECK(scaling.exit.text() == "exit code 3");
  CHECK_THAT(scaling.out, Contains("No metric was measured at two values of ranks"));
  const Answer none = bench.run({"report", "scaling", "label:kernel=6.1"});
  CHECK(none.exit.text() == "exit code 2");
  CHECK_THAT(none.err, Contains("no finished run has the label kernel=6.1"));
}

TEST_CASE("reports refuse unknown arguments by name") {
  const BenchctlFolder bench;
  REQUIRE(bench.start_suite({""}).wait().exit.clean());
  const Answer law = bench.run({"report", "scaling", "--law", "stron"});
  CHECK(law.exit.text() == "exit code 2");
  CHECK_THAT(law.err, Contains("Did you mean 'strong'?"));
  const auto profile = bench.folder.path() / "profile.json";
  std::ofstream(profile) << R"({"time": "2026-11-20T18:30:05Z", "criterias": []})";
  const Answer fleet = bench.run({"report", "fleet", "--profile", profile.string()});
  CHECK(fleet.exit.text() == "exit code 2");
  CHECK_THAT(fleet.err, Contains("criteria"));
  const Answer lesson = bench.run({"report", "fleet", "--learn", profile.string()});
  CHECK(lesson.exit.text() == "exit code 2");
  CHECK_THAT(lesson.err, Contains("no criteria could be learned"));
  CHECK_THAT(read_file(profile), Contains("criterias"));  // it is as it was
}

TEST_CASE("a training report on a loader run predicts what training would wait for") {
  const BenchctlFolder bench;
  const auto suite = (bench.folder.path() / "loader.json").string();
  const Json params = {{"pipeline", "synthetic"}, {"steps", {0.001}}, {"time_s", 0.2}};
  std::ofstream(suite) << Json{
      {"suite", "loader"},
      {"cases", {{{"name", "nothing"}, {"probe", "data_loader"}, {"params", params}}}}};
  const Answer run = bench.run({"run", suite});
  INFO(run.err);
  REQUIRE(bench.measured(run));
  CHECK_THAT(run.out,
             Contains("Bottleneck analysis") && Contains("nothing, data loader with steps"));
  const auto page = (bench.folder.path() / "page.html").string();
  const Answer report = bench.run({"report", "training", "--json", "--html", page});
  const Json json = parse_json(report.out, "training");
  REQUIRE(json["diagnosis"].size() == 1);
  CHECK(json["diagnosis"][0]["subject"] == "loader");
  CHECK(json["diagnosis"][0]["case"] == "nothing");
  CHECK(json["runs"].empty());
  CHECK_THAT(read_file(page), Contains("Bottleneck analysis"));
}

namespace {

/// Addresses of a page that lead to no file; each page is looked at once.
void follow(const std::filesystem::path& page, std::set<std::filesystem::path>& seen,
            std::vector<std::string>& dead) {
  if (!seen.insert(page).second) return;
  const std::string text = read_file(page);
  const std::regex link("href=\"([^\"#]+)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
    const auto to = (page.parent_path() / (*at)[1].str()).lexically_normal();
    if (std::filesystem::exists(to))
      follow(to, seen, dead);
    else
      dead.push_back(page.string() + " -> " + (*at)[1].str());
  }
}

}  // namespace

TEST_CASE("a site has a page for everything, and every link leads to one") {
  const BenchctlFolder bench;
  const std::string rank = (program_folder() / "faulty_rank").string();
  for (int i = 0; i < 2; ++i)
    REQUIRE(bench.run({"run", bench.suite({""}), "--rank-program", rank}).exit.clean());
  bench.run({"nightly", "--suite", bench.suite({""}), "--all", "--rank-program", rank});
  const auto folder = bench.folder.path() / "site";
  const Answer made = bench.run({"report", "site", folder.string(), "--json"});
  INFO(made.err);
  REQUIRE(made.exit.clean());
  const Json json = parse_json(made.out, "site");
  CHECK(json["warnings"].empty());
  for (const Json& file : json["files"])
    CHECK(std::filesystem::exists(folder / file.get<std::string>()));
  std::set<std::filesystem::path> seen;
  std::vector<std::string> dead;
  follow(folder / "index.html", seen, dead);
  CHECK(dead == std::vector<std::string>{});
  CHECK(seen.size() == json["files"].size());  // no page that nobody can find
  for (const char* part : {"/runs/", "/nights/", "/hosts/", "/comparisons/"})
    CHECK(std::ranges::any_of(seen, [&](const std::filesystem::path& page) {
      return page.string().find(part) != std::string::npos;
    }));
  for (const std::filesystem::path& page : seen)
    if (page.string().find("/nights/") != std::string::npos) {
      CHECK_THAT(read_file(page), !Contains("of 0 s") && !Contains("never"));
    }
  // What one run lost is said, and the others are still shown.
  const std::string lost = all_runs(bench.folder.path() / "runs").front();
  std::filesystem::remove_all(bench.folder.path() / "runs" / lost);
  const Answer again = bench.run({"report", "site", folder.string()});
  CHECK(again.exit.clean());
  CHECK_THAT(again.err, Contains(lost));
  CHECK_THAT(read_file(folder / "index.html"), Contains("run " + lost + ": "));
}
