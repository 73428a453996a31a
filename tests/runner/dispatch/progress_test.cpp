#include "runner/dispatch/progress.h"

#include <unistd.h>

#include <algorithm>
#include <functional>

#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Plan two_jobs() {
  Plan plan;
  plan.entries.resize(2);
  plan.entries[0].job.id = "01.a";
  plan.entries[0].job.case_name = "a";
  plan.entries[0].axes = {{"threads", 2}};
  plan.entries[0].expected = Seconds{3.0};
  plan.entries[1].job.id = "02.b";
  plan.entries[1].job.case_name = "b";
  plan.entries[1].expected = Seconds{1.0};
  return plan;
}

/// What `write` writes to its file descriptor.
std::string written(const std::function<void(int)>& write) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  write(ends[1]);
  close(ends[1]);
  std::string text(65536, '\0');
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  close(ends[0]);
  return text;
}

/// What a progress of this style wrote for: start a, finish a, start b, fail b.
std::string shown(Progress::Style style) {
  return written([&](int fd) {
    const Plan plan = two_jobs();
    Progress progress(style, plan, 1, fd);
    progress.start(plan.entries[0]);
    progress.finish(plan.entries[0].job, {Status::ok, "", 1.25});
    progress.start(plan.entries[1]);
    progress.finish(plan.entries[1].job, {Status::failed, "it\x1b[31m crashed", 0.5});
  });
}

/// What a progress wrote about a job that is noted every five seconds for a quarter of an hour.
std::string shown_notes(Progress::Style style) {
  return written([&](int fd) {
    double now_s = 0.0;
    const Plan plan = two_jobs();
    Progress progress(style, plan, 1, fd, [&] { return now_s; });
    progress.start(plan.entries[0]);
    for (; now_s <= 900.0; now_s += 5.0) {
      progress.note(plan.entries[0].job, "at " + std::to_string(static_cast<int>(now_s)));
      progress.tick();
    }
    progress.notice(plan.entries[0].job, "is slow");
    progress.finish(plan.entries[0].job, {Status::ok, "", 900.0});
    progress.start(plan.entries[1]);
  });
}

}  // namespace

TEST_CASE("without a terminal each finished job is one plain line") {
  CHECK(shown(Progress::Style::plain) ==
        "[1/2] a threads=2 ok 1.2 s; about 1 s left\n"
        "[2/2] b failed 0.5 s: it\\x1b[31m crashed\n");
}

TEST_CASE("a long plan has a line for each twentieth of it, and for what is not ok") {
  const std::string text = written([](int fd) {
    Plan plan;
    plan.entries.resize(200);
    for (std::size_t i = 0; i < plan.entries.size(); ++i)
      plan.entries[i].job.id = "01.a." + std::to_string(i);
    Progress progress(Progress::Style::plain, plan, 1, fd);
    for (std::size_t i = 0; i < plan.entries.size(); ++i)
      progress.finish(plan.entries[i].job, {i == 4 ? Status::failed : Status::ok, "", 0.1});
  });
  CHECK(std::ranges::count(text, '\n') == 21);
  CHECK_THAT(text, Contains("[5/200]") && Contains("failed") && Contains("[200/200]"));
}

TEST_CASE("on a terminal one line is redrawn and cleared, and only failures stay") {
  const std::string text = shown(Progress::Style::live);
  CHECK_THAT(text, Contains("\r\033[K[................] 0/2  about 4 s left  a threads=2") &&
                       Contains("[########........] 1/2"));
  CHECK_THAT(text, !Contains("ok 1.2 s"));
  CHECK_THAT(text, Contains("[2/2] b failed 0.5 s"));
}

TEST_CASE("the time left follows the pace so far, and shrinks while a job runs") {
  Plan plan;
  plan.entries.resize(4);
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    plan.entries[i].job.id = "01.a." + std::to_string(i);
    plan.entries[i].expected = Seconds{60.0};
  }
  double now_s = 1000.0;
  const std::string text = written([&](int fd) {
    Progress progress(Progress::Style::live, plan, 2, fd, [&] { return now_s; });
    progress.start(plan.entries[0]);  // four jobs of 60 s in two lanes
    now_s += 30.0;
    progress.finish(plan.entries[0].job, {Status::ok, "", 30.0});
    progress.start(plan.entries[1]);  // each takes half of what was expected
    now_s += 20.0;
    progress.start(plan.entries[1]);
    now_s += 500.0;
    progress.start(plan.entries[1]);
  });
  CHECK_THAT(text, Contains("0/4  about 2 min left") && Contains("1/4  about 90 s left") &&
                       Contains("1/4  about 70 s left") && Contains("1/4  about 1 s left"));
}

TEST_CASE("what a running job is doing is a line now and then, without a terminal") {
  CHECK(shown_notes(Progress::Style::plain) ==
        "[1/2] a threads=2: at 10\n[1/2] a threads=2: at 20\n[1/2] a threads=2: at 40\n"
        "[1/2] a threads=2: at 80\n[1/2] a threads=2: at 160\n[1/2] a threads=2: at 320\n"
        "[1/2] a threads=2: at 640\na threads=2: is slow\n"
        "[1/2] a threads=2 ok 900.0 s; about 5 min left\n");
  CHECK(shown_notes(Progress::Style::silent).empty());
}

TEST_CASE("what a running job is doing is in the redrawn line on a terminal, until it ends") {
  const std::string text = shown_notes(Progress::Style::live);
  CHECK_THAT(text, Contains("\r\033[K0/2 a threads=2: at ") && Contains("a threads=2: is slow\n"));
  CHECK_THAT(text.substr(text.find("is slow")), !Contains(": at ") && Contains("1/2  "));
}

TEST_CASE("a silent progress writes nothing") { CHECK(shown(Progress::Style::silent).empty()); }
