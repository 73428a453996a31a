#include "mlperf/package/package.h"

#include <algorithm>

#include "core/error.h"
#include "core/whole_file.h"
#include "mlperf/submission/submission.h"
#include "mlperf/submission/system_description.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

std::string org_line(const std::string& value) {
  return R"(:::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", )"
         R"("key": "submission_org", "value": )" +
         value + R"(, "metadata": {}})";
}

PackageRequest request_into(const fs::path& folder) {
  PackageRequest request;
  request.folder = folder;
  request.submitter = "acme";
  request.system = "two-nodes";
  request.benchmark = "llama31_8b";
  request.logs = {{"a", "one\n"}, {"b", "two\r\n"}};
  request.description = describe_system({}, Json::array(), {.submitter = "acme"});
  request.commands = {"benchctl train llm"};
  return request;
}

}  // namespace

TEST_CASE("a package is read as a submission, with logs byte for byte") {
  const TemporaryDirectory place;
  const Package package = write_package(request_into(place.path()));
  const Submission found = find_submission(place.path());
  REQUIRE(found.entries.size() == 1);
  const SubmissionEntry& entry = found.entries[0];
  CHECK(entry.submitter == "acme");
  CHECK(entry.system == "two-nodes");
  CHECK(entry.benchmark == "llama31_8b");
  REQUIRE(entry.logs.size() == 2);
  CHECK(read_file(entry.logs[1]) == "two\r\n");
  REQUIRE(entry.system_file);
  CHECK(read_system_description(*entry.system_file).submitter == "acme");
  CHECK(package.files.size() == 4);
  CHECK_THAT(read_file(package.files.back()), Contains("    benchctl train llm\n"));
  CHECK(std::ranges::any_of(package.todo, [](const TodoItem& one) {
    return one.what == "systems/two-nodes.json: status";
  }));
}

namespace {

PackagedLog log_of(const std::string& name, const std::string& division) {
  return {name, R"(:::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", )"
                R"("key": "submission_division", "value": ")" +
                    division + R"(", "metadata": {}})" + "\n"};
}

std::string refusal(const std::vector<PackagedLog>& logs, const std::string& wanted) try {
  division_of(logs, wanted);
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("the division is the one that the logs state, and never another") {
  CHECK(division_of({log_of("a", "closed"), {"b", "nothing\n"}}, "") == "closed");
  CHECK(division_of({{"b", "nothing\n"}}, "") == "open");
  CHECK(division_of({{"b", "nothing\n"}}, "closed") == "closed");
  CHECK(refusal({log_of("a", "closed")}, "open") == "a is of the closed division, not open");
  CHECK(refusal({log_of("a", "closed"), log_of("b", "open")}, "") ==
        "a is of the closed division, b of the open");
}

TEST_CASE("a package does not replace results and keeps an existing description") {
  const TemporaryDirectory place;
  PackageRequest request = request_into(place.path());
  write_package(request);
  CHECK_THROWS_WITH(write_package(request), Contains("already exists"));
  const fs::path system = place.path() / "acme/systems/two-nodes.json";
  write_file(system, "{\"submitter\": \"by hand\"}");
  request.benchmark = "flux1";
  write_package(request);
  CHECK(read_system_description(system).submitter == "by hand");
  CHECK(find_submission(place.path()).entries.size() == 2);
}

TEST_CASE("names that leave the folder or that git rejects are refused") {
  const TemporaryDirectory place;
  for (const char* name : {"", "..", "../x", "a b", ".hidden", "a/b", "-x", "a\x1b[1m", "é"}) {
    INFO(name);
    PackageRequest request = request_into(place.path());
    request.system = name;
    CHECK_THROWS_AS(write_package(request), Error);
  }
  CHECK(fs::is_empty(place.path()));
  PackageRequest none = request_into(place.path());
  none.logs.clear();
  CHECK_THROWS_WITH(write_package(none), Contains("no log"));
}

TEST_CASE("placeholders are replaced only as values of their keys") {
  std::size_t filled = 0;
  const std::string log = "SUBMISSION_ORG_PLACEHOLDER\r" +
                          org_line("\"SUBMISSION_ORG_PLACEHOLDER\"") + "\r\n" +
                          org_line("\"acme\"") + "\n\"SUBMISSION_ORG_PLACEHOLDER\"";
  CHECK(replace_placeholders(log, "new \"org\"", "s", filled) ==
        "SUBMISSION_ORG_PLACEHOLDER\r" + org_line(R"("new \"org\"")") + "\r\n" +
            org_line("\"acme\"") + "\n\"SUBMISSION_ORG_PLACEHOLDER\"");
  CHECK(filled == 1);
  CHECK(replace_placeholders("", "a", "b", filled).empty());
  const auto platform = [&](const std::string& logged) {
    const std::string line = R"(:::MLLOG {"key": "submission_platform", "value": ")";
    const std::string text =
        replace_placeholders(line + logged + "\", \"metadata\": {}}", "acme", "rack \"7\"", filled);
    return text.substr(line.size(), text.find("\", \"metadata") - line.size());
  };
  CHECK(platform("SUBMISSION_PLATFORM_PLACEHOLDER") == R"(rack \"7\")");
  CHECK(platform("16xSUBMISSION_PLATFORM_PLACEHOLDER") == R"(16xrack \"7\")");
  CHECK(platform("NxSUBMISSION_PLATFORM_PLACEHOLDER") == R"(rack \"7\")");
  CHECK(filled == 4);
  CHECK(platform("my SUBMISSION_PLATFORM_PLACEHOLDER") == "my SUBMISSION_PLATFORM_PLACEHOLDER");
  CHECK(filled == 4);
}

}  // namespace bench::mlperf
