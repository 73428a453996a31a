// The one rule that decides whether something passed.
#include "results/run/conclusion.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("nothing passes unless something was judged, and nothing was left unjudged") {
  CHECK(Conclusion{}.verdict() == Verdict::inconclusive);
  CHECK(Conclusion{}.exit_code() == ExitCode::not_measured);
  CHECK(Conclusion{.passed = 3}.verdict() == Verdict::pass);
  CHECK(Conclusion{.passed = 3}.exit_code() == ExitCode::ok);
  CHECK(Conclusion{.passed = 3, .unjudged = 1}.verdict() == Verdict::inconclusive);
  CHECK(Conclusion{.passed = 3, .unjudged = 1}.exit_code() == ExitCode::not_measured);
}

TEST_CASE("a failure outweighs what was not judged, and an interruption outweighs both") {
  CHECK(Conclusion{.passed = 3, .failed = 1, .unjudged = 1}.exit_code() == ExitCode::failed);
  CHECK(Conclusion{.failed = 1, .interrupted = true}.exit_code() == ExitCode::interrupted);
}

TEST_CASE("a database that lacks the run is reported only if everything else passed") {
  CHECK(Conclusion{.passed = 1, .indexed = false}.exit_code() == ExitCode::environment);
  CHECK(Conclusion{.failed = 1, .indexed = false}.exit_code() == ExitCode::failed);
}
