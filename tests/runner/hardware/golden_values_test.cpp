#include "runner/hardware/golden_values.h"

#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kOne = "1111111111111111";
constexpr const char* kTwo = "2222222222222222";

Json value(const std::string& hash, int m = 8, const std::string& version = "1.2") {
  return {{"probe", "gemm"},
          {"key", {{"chip", "X"}, {"library", "lib"}, {"version", version}, {"m", m}, {"seed", 1}}},
          {"hash", hash}};
}

struct Folder {
  TemporaryDirectory folder;
  void write(const std::string& name, const std::vector<Json>& values) const {
    std::ofstream(folder.path() / name) << Json{{"values", values}};
  }
  GoldenValues load() const { return GoldenValues::load({folder.path()}); }
};

Job gemm_job(std::uint64_t seed = 1) {
  Job job;
  job.probe = "gemm";
  job.seed = seed;
  return job;
}

TEST_CASE("a job gets the golden values that may apply, with their source") {
  const Folder files;
  files.write("a.json", {value(kOne), value(kTwo, 16)});
  const GoldenValues golden = files.load();
  const auto found = golden.for_job(gemm_job(), {{"lib", "1.2"}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].hash == kOne);
  CHECK(found[0].source == "a.json");
  CHECK(golden.for_job(gemm_job(2), {{"lib", "1.2"}}).empty());
  CHECK(golden.for_job(gemm_job(), {{"lib", "1.3"}}).empty());
  CHECK(golden.for_job(gemm_job(), {{"lib", nullptr}}).size() == 2);
  Job other = gemm_job();
  other.probe = "burn";
  CHECK(golden.for_job(other, {{"lib", "1.2"}}).empty());
}

TEST_CASE("one value in two files is one; two values for one result are refused, naming both") {
  const Folder files;
  files.write("a.json", {value(kOne)});
  files.write("b.json", {value(kOne)});
  CHECK(files.load().size() == 1);
  files.write("c.json", {value(kTwo)});
  CHECK_THROWS_WITH(files.load(),
                    Contains("a.json") && Contains("c.json") && Contains(kOne) && Contains(kTwo));
}

TEST_CASE("an invalid golden file is refused by name; a missing folder has no values") {
  const Folder files;
  files.write("a.json", {{{"probe", "gemm"}, {"key", Json::object()}, {"hash", "short"}}});
  CHECK_THROWS_WITH(files.load(), Contains("a.json") && Contains("/values/0/hash"));
  CHECK(GoldenValues::load({files.folder.path() / "nowhere"}).size() == 0);
}

TEST_CASE("the golden values that are shipped can be read") {
  CHECK_NOTHROW(GoldenValues::load({"hosts/golden"}));
}

}  // namespace
}  // namespace bench
