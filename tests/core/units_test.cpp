#include "core/units.h"

#include "core/dtype.h"
#include "core/error.h"
#include "core/record.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("quantities of one kind add up, and amounts by time are rates") {
  CHECK((Seconds{1.5} + Seconds{0.5}).value == 2.0);
  CHECK((Bytes{8e9} / Seconds{2}).value == 4e9);
  CHECK(Seconds{3} / Seconds{2} == 1.5);
  CHECK(Seconds{1} < Seconds{2});
}

TEST_CASE("every name survives a round trip") {
  for (const char* name : {"s", "B", "B/s", "FLOP/s", "OP/s", "Hz", "count", "ratio"})
    CHECK(to_string(unit_from(name)) == name);
  for (const char* name : {"higher", "lower", "none"}) CHECK(to_string(better_from(name)) == name);
  for (const char* name :
       {"f64", "f32", "tf32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "int8", "int32", "int64"})
    CHECK(to_string(dtype_from(name)) == name);
  for (const char* name : {"ok", "skipped", "invalid", "failed", "timed_out"})
    CHECK(to_string(status_from(name)) == name);
  for (const char* name : {"proven", "datasheet", "measured"})
    CHECK(to_string(limit_kind_from(name)) == name);
}

TEST_CASE("an unknown name is refused with the known ones") {
  CHECK_THROWS_WITH(unit_from("GB/s"), "unknown unit 'GB/s'");
  try {
    dtype_from("fp32");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK_THAT(error.hint(), Catch::Contains("f64, f32"));
  }
}

TEST_CASE("an element takes the bytes it takes in memory") {
  CHECK(size_of(Dtype::f64) == 8);
  CHECK(size_of(Dtype::tf32) == 4);
  CHECK(size_of(Dtype::bf16) == 2);
  CHECK(size_of(Dtype::fp8_e5m2) == 1);
  CHECK(is_integer(Dtype::int8));
  CHECK_FALSE(is_integer(Dtype::f32));
}

TEST_CASE("of two outcomes the worse one stays") {
  CHECK(worse(Status::ok, Status::skipped) == Status::skipped);
  CHECK(worse(Status::timed_out, Status::failed) == Status::timed_out);
  CHECK(worse(Status::invalid, Status::skipped) == Status::invalid);
}
