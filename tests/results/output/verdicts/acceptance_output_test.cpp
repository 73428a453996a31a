#include "results/output/verdicts/acceptance_output.h"

#include <algorithm>
#include <string>

#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/acceptance_json.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"
#include "tests/support/rendered.h"

using namespace bench;

namespace {

/// Five hosts; the last one is slow and its name needs escaping in XML.
Acceptance one_failed() {
  Fleet fleet(5);
  fleet.settings.thresholds["memory_bandwidth.bandwidth"] = 0.05;
  for (std::size_t h = 0; h < 5; ++h)
    for (const double run : {0.999, 1.0, 1.001})
      fleet.job("memory_bandwidth.bandwidth", h,
                (h == 4 ? 50e9 : 100e9 + 1e8 * static_cast<double>(h)) * run);
  fleet.facts(4, "host", {{"product_serial", "S<1>&\"2\""}, {"kernel", "6.1"}});
  return fleet.judge();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the JSON of an acceptance matches its schema") {
  const Acceptance acceptance = one_failed();
  const Json json = to_json(acceptance);
  CHECK_NOTHROW(Schema::load("schemas/acceptance.json").check(json, "acceptance"));
  CHECK(json["verdict"] == "fail");
  CHECK(json["hosts"][4]["reasons"][0]["gate"] == "peers");
  CHECK(json["hosts"][0]["reasons"].empty());
  CHECK(json["hosts"][0]["metrics"][0]["limit"].is_null());
}

TEST_CASE(
    "the JSON of an acceptance that is written in pieces is the whole, with what stands beside "
    "it") {
  const Acceptance acceptance = one_failed();
  std::string text;
  std::size_t longest = 0;
  write_json(acceptance, {{"drain", {"node05"}}}, [&](const std::string& piece) {
    text += piece;
    longest = std::max(longest, piece.size());
  });
  Json whole = to_json(acceptance);
  CHECK(longest < text.size() / 2);  // host by host
  whole["drain"] = {"node05"};
  CHECK(text == whole.dump(1) + "\n");
}

TEST_CASE("the text of an acceptance names host, verdict, value and peers") {
  const std::string text = to_text(one_failed(), {false, false, 100});
  CHECK(has(text, "node05"));
  CHECK(has(text, "FAIL [peers]"));
  CHECK(has(text, "50.00 GB/s"));
  CHECK(has(text, "50.1 % worse"));
}

TEST_CASE("the Markdown of an acceptance has verdict, reason and the certificate's metrics") {
  const Acceptance acceptance = one_failed();
  const std::string summary = to_markdown(to_document(acceptance));
  CHECK(has(summary, "# Acceptance of 5 hosts\n\n**FAIL**: 1 of 5 hosts failed, 4 passed\n"));
  CHECK(has(summary, "| **node05** | **FAIL** | 0 of 1 |"));
  CHECK(has(to_markdown(certificate(acceptance, acceptance.hosts[4])), "50.00 GB/s"));
}

TEST_CASE("an HTML certificate is self-contained and escapes text") {
  const Acceptance acceptance = one_failed();
  const std::string page = to_page(certificate(acceptance, acceptance.hosts[4]));
  CHECK(has(page, "S&lt;1&gt;&amp;&quot;2&quot;"));
  CHECK_FALSE(has(page, "S<1>"));
  for (const char* foreign : {"src=", "http://", "https://", "@import", "url("})
    CHECK_FALSE(has(page, foreign));
  CHECK(has(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "));
  CHECK(has(page, "@media print"));
  CHECK(has(to_page(to_document(acceptance)), "href=\"node05.html\""));
  CHECK(has(to_page(to_document(acceptance)), "FAIL"));
}

TEST_CASE("JUnit counts a failed reason as a failure and an inconclusive one as an error") {
  const std::string xml = to_junit(one_failed());
  CHECK(has(xml, "<testsuites name=\"accept\" tests=\"5\" failures=\"1\" errors=\"0\" "));
  CHECK(has(xml, "<failure type=\"peers\""));
  Fleet alone(1);
  for (int run = 0; run < 3; ++run) alone.job("memory_bandwidth.bandwidth", 0, 100.0);
  CHECK(has(to_junit(alone.judge()), "failures=\"0\" errors=\"1\""));
}

TEST_CASE("the terminal names the reason of every host that did not pass, not of the worst only") {
  Fleet fleet(9);
  for (std::size_t h = 0; h < 9; ++h)
    for (int run = 0; run < 3; ++run) {
      Samples s = fleet.samples("memory_bandwidth.bandwidth", 100.0);
      if (h < 4)
        s.flags.assign(s.values.size() + h, kCrowded), s.values.resize(s.flags.size(), 100.0);
      fleet.job("memory_bandwidth.bandwidth", {fleet.host(h)}, s);
    }
  const std::string text = to_text(fleet.judge(), {false, false, 100});
  for (const char* count : {"7 crowded", "8 crowded", "9 crowded", "10 crowded"})
    CHECK(has(text, count));
}

TEST_CASE("network cards are part of a host's identity") {
  HostAcceptance host;
  host.facts = {{"network", {{{"name", "eth0"}, {"firmware", "1.2"}, {"mtu", 1500}}}}};
  CHECK(identity(host)["network"] == Json({{{"name", "eth0"}, {"firmware", "1.2"}}}));
  CHECK_FALSE(identity(host).contains("infiniband"));
}

TEST_CASE("the RMA packet of a failed host has serial, evidence and command") {
  const Acceptance acceptance = one_failed();
  const Json packet = rma_packet(acceptance, acceptance.hosts[4], "benchctl run demo");
  CHECK(packet["identity"]["product_serial"] == "S<1>&\"2\"");
  CHECK(packet["evidence"].size() == 1);
  CHECK(packet["reproduce"] == "benchctl run demo");
  CHECK(has(to_text(packet), "benchctl run demo"));
  CHECK(has(to_text(packet), "50.00 GB/s"));
}

TEST_CASE("error counters appear in JSON, text, JUnit and on the certificate") {
  Fleet fleet(4);
  for (std::size_t h = 0; h < 4; ++h) {
    for (int run = 0; run < 3; ++run) fleet.job("memory_bandwidth.bandwidth", h, 100.0);
    fleet.facts(
        0, "counters",
        {{"hosts",
          {{{"host", fleet.host(h)},
            {"seconds", 1.0},
            {"counters",
             {{"host.network",
               {{"e<th>.received_errors", h == 3 ? 900 : 0}, {"e<th>.received_bytes", 1e13}}},
              {"gpu0.health", {{"ecc_uncorrected", 0}}}}}}}}});
  }
  const Acceptance acceptance = fleet.judge();
  const Json json = to_json(acceptance);
  CHECK_NOTHROW(Schema::load("schemas/acceptance.json").check(json, "acceptance"));
  CHECK(json["hosts"][3]["verdict"] == "fail");
  CHECK(json["hosts"][0]["counters"][0]["verdict"] == "pass");
  CHECK(json["hosts"][0]["counters"][0]["bytes"] == 1e13);
  CHECK(json["hosts"][0]["counters_watched"] == 2);
  const std::string text = to_text(acceptance, {false, false, 100});
  CHECK(has(text, "FAIL [counters] 900 received_errors of e<th>"));
  CHECK(has(text, "error counters: 8 on 4 of 4 hosts"));
  CHECK(has(to_junit(acceptance), "counters: ecc_uncorrected (gpu0)"));
  CHECK(has(to_junit(acceptance), "<failure type=\"counters\""));
  const std::string page = to_page(certificate(acceptance, acceptance.hosts[3]));
  CHECK(has(page, "IEEE 802.3"));
  CHECK(has(page, "e&lt;th&gt;"));
  CHECK_FALSE(has(page, "e<th>"));
}

TEST_CASE("the reason for a scheduler is one line without quotes within the length limit") {
  HostAcceptance host;
  Reason reason{Verdict::fail, "hard"};
  reason.text = "it said \"no\"\nand 'never' " + std::string(300, 'x');
  host.reasons.push_back(reason);
  const std::string text = short_reason(host, 100);
  CHECK(text.size() == 100);
  CHECK(text.find_first_of("\"'\n") == std::string::npos);
  CHECK(text.starts_with("hard: it said"));  // sinfo shows 20 characters
  CHECK(text.ends_with("... (benchctl accept)"));
}
