#include "runner/launch/rank_process.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("lines are put together from pieces") {
  LineBuffer buffer(100);
  buffer.add("on");
  CHECK_FALSE(buffer.next());
  buffer.add("e\ntwo\n\nthr");
  CHECK(buffer.next() == "one");
  CHECK(buffer.next() == "two");
  CHECK(buffer.next() == "");
  CHECK_FALSE(buffer.next());
  buffer.finish();
  CHECK(buffer.next() == "thr");
}

TEST_CASE("a line of maximum length passes, a longer one is dropped and reported") {
  LineBuffer buffer(4);
  buffer.add("1234\n");
  CHECK(buffer.next() == "1234");
  CHECK_FALSE(buffer.overflowed());
  buffer.add("12345\nnext\n");
  CHECK(buffer.overflowed());
  CHECK(buffer.next() == "next");
}

TEST_CASE("an endless line is not stored") {
  LineBuffer buffer(4);
  for (int i = 0; i < 1000; ++i) buffer.add("xxxx");
  buffer.finish();
  CHECK(buffer.overflowed());
  CHECK_FALSE(buffer.next());
}
