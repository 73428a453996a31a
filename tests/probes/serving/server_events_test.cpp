// Server-sent events: lines, fields and ends as WHATWG HTML, section 9.2, has them.
#include "probes/serving/server_events.h"

#include "tests/support/catch.h"

namespace bench::serving {
namespace {

std::vector<std::string> data_of(std::string_view text) {
  std::vector<std::string> data;
  for (const ServerEvent& event : server_events(text)) data.push_back(event.data);
  return data;
}
using Data = std::vector<std::string>;

}  // namespace

TEST_CASE("events end with an empty line, whatever ends lines") {
  CHECK(data_of("data: a\n\ndata: b\n\n") == Data{"a", "b"});
  CHECK(data_of("data: a\r\n\r\ndata: b\r\n\r\n") == Data{"a", "b"});
  CHECK(data_of("data: a\r\rdata: b\r\r") == Data{"a", "b"});
  CHECK(data_of("data: a\n\ndata: b\n") == Data{"a"});
  CHECK(data_of("data: a\n\ndata: b") == Data{"a"});
  CHECK(data_of("").empty());
}

TEST_CASE("only data counts, one blank after its colon does not") {
  CHECK(data_of(": a comment\nevent: x\nid: 3\ndata:a\n\n") == Data{"a"});
  CHECK(data_of("data:  a\n\n") == Data{" a"});
  CHECK(data_of("data: a\ndata: b\n\n") == Data{"a\nb"});
  CHECK(data_of("data\n\n") == Data{""});
  CHECK(data_of("event: x\n\n").empty());
  CHECK(data_of("\xef\xbb\xbf"
                "data: a\n\n") == Data{"a"});
}

TEST_CASE("an event knows where it ended") {
  const auto events = server_events(": x\n\ndata: a\n\ndata: b\r\n\r\n");
  REQUIRE(events.size() == 2);
  CHECK(events[0].end == 14);
  CHECK(events[1].end == 25);
}

}  // namespace bench::serving
