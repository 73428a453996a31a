#include "results/output/mlperf/score_output.h"

#include <string>

#include "core/disclaimer.h"
#include "core/schema.h"
#include "mlperf/score/submission_score.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/score_csv.h"
#include "tests/mlperf/scored_entry.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

SubmissionScore made_up_scores() {
  SubmissionScore score{.root = "round"};
  const RcpSet set = small_set();
  for (const char* submitter : {"acme", "<b>evil</b>\x1b[2J"}) {
    EntryScore entry =
        entry_of({run_of(0, 10, 99), run_of(1, 14, 99), run_of(2, 11, 99), run_of(3, 12, 99)});
    entry.submitter = submitter;
    score_entry(entry, &set, {.batches = {1152}});
    score.systems.push_back({submitter, "sys", {}, {score.entries.size()}});
    score.entries.push_back(entry);
  }
  EntryScore broken = entry_of({run_of(0, 10, 60)});
  broken.system = "=1+1";
  score_entry(broken, &set, {});
  score.systems.push_back({"acme", "=1+1", system_description(Json{{"status", "a, \"b\""}}), {2}});
  score.entries.push_back(broken);
  score.benchmarks = {"llama31_405b"};
  score.reference.emplace("5.1.0 llama31_405b", set);
  return score;
}

constexpr TextStyle kWide{.width = 1000};

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("JSON scores match their schema and are marked as not verified") {
  const Json json = Json::parse(dump(to_json(made_up_scores())));
  CHECK_NOTHROW(Schema::load("schemas/report_mlperf_score.json").check(json, "score"));
  CHECK(json["note"] == kNotVerified);
  CHECK(json["entries"][0]["score_minutes"].get<double>() == Approx(12 * 100.0 / 99));
  CHECK(json["entries"][2]["score_minutes"].is_null());
  CHECK(json["entries"][2]["provisional_minutes"].is_number());
  CHECK(json["table"][0]["score_minutes"]["llama31_405b"].is_number());
}

TEST_CASE("text scores show their derivation and print no control characters") {
  const std::string text = to_terminal(to_document(made_up_scores(), true), kWide);
  CHECK(has_part(text, kNotVerified));
  CHECK(has_part(text, "scaled by 1.010101"));
  CHECK(has_part(text, "12.1212 minutes"));
  CHECK(has_part(text, "without the fastest (11.0000) and the slowest (14.0000)"));
  CHECK(has_part(text, "1 of 3 required runs"));
  CHECK(has_part(text, kDerived));
  CHECK_FALSE(has_part(text, "\x1b"));
}

TEST_CASE("many entries are shown as a table with their problems") {
  SubmissionScore score = made_up_scores();
  score.entries.push_back(score.entries[0]);
  const std::string text = to_terminal(to_document(score, false), kWide);
  CHECK_FALSE(has_part(text, "olympic mean"));
  CHECK(has_part(text, "1 of 3 required runs"));
  CHECK(has_part(text, kNotVerified));
}

TEST_CASE("Markdown scores have the table, the derivation and the disclaimer") {
  const std::string text = to_markdown(to_document(made_up_scores(), true));
  CHECK(has_part(text, kNotVerified));
  CHECK(has_part(text, "| acme | sys |"));
  CHECK(has_part(text, "**12.1212 minutes**"));
  CHECK(has_part(text, "1 of 3 required runs"));
}

TEST_CASE("halfway minutes are rounded up in spite of rounding errors") {
  CHECK(format_minutes((1'000'599'673.0 - 1e9) / 60'000.0) == "9.9946");
  CHECK(format_minutes(9.994549999999998) == "9.9946");
  CHECK(format_minutes(9.99454) == "9.9945");
  CHECK(format_minutes(5.2187) == "5.2187");
}

TEST_CASE("the CSV score table quotes where necessary") {
  const std::string csv = to_csv(made_up_scores());
  CHECK(csv.rfind("division,availability,submitter,system,", 0) == 0);
  CHECK(has_part(csv, ",llama31_405b,system_folder,note\r\n"));
  CHECK(has_part(csv, "\"a, \"\"b\"\"\""));
  CHECK(has_part(csv, "\"'=1+1\""));
  CHECK(has_part(csv, kNotVerified));
}

TEST_CASE("the HTML score page escapes names and plots the reference") {
  const std::string page = to_page(to_document(made_up_scores(), false));
  CHECK(has_part(page, "<svg"));
  CHECK(has_part(page, kNotVerified));
  CHECK_FALSE(has_part(page, "<b>evil"));
  CHECK(has_part(page, "&lt;b&gt;evil"));
}

}  // namespace bench::mlperf
