#include "mlperf/storage/storage_rules.h"

#include <set>

#include "mlperf/storage/leaf_files.h"
#include "tests/support/catch.h"

namespace bench::mlperf::storage {
namespace {

TEST_CASE("each rule has its own name, a sentence and a computation") {
  std::set<std::string_view> names;
  for (const StorageRule& rule : storage_rules()) {
    CHECK(names.insert(rule.id).second);
    CHECK(rule.what.ends_with('.'));
    CHECK(rule.how.ends_with('.'));
    CHECK(rule.closed_round <= rule.current);
  }
}

TEST_CASE("a checkpoint's model is the size in its name, and no part of another number") {
  CHECK(checkpoint_model("llama3-8b")->processes == 8);
  CHECK(checkpoint_model("Llama3-70B_a100")->processes == 64);
  CHECK(checkpoint_model("llama3-405b")->group == 256);
  CHECK(checkpoint_model("llama3-1t")->processes == 1024);
  CHECK(checkpoint_model("llama3-128b") == nullptr);
  CHECK(checkpoint_model("llama3") == nullptr);
}

TEST_CASE("models belong to rounds, and their numbers to accelerators") {
  CHECK(is_training_model("retinanet", 3));
  CHECK_FALSE(is_training_model("retinanet", 2));
  CHECK(is_training_model("cosmoflow", 2));
  CHECK_FALSE(is_training_model("dlrm", 3));
  CHECK(training_model("retinanet", "mi355")->batch == 32);
  CHECK(training_model("retinanet", "h100") == nullptr);
  CHECK(is_training_model("unet3d_h100", 2));
  CHECK(any_training_model("unet3d_mi355")->least_utilisation == 0.9);
  CHECK(any_training_model("dlrm") == nullptr);
}

TEST_CASE("numbers may be text, times are local unless they say otherwise") {
  const Json json = {{"a", {{"number", "148000"}, {"flag", "False"}, {"list", {1, "2"}}}},
                     {"local", "2026-07-24T14:16:13.250000"},
                     {"utc", "2026-07-24T14:16:13Z"},
                     {"short", "2026-07-24"}};
  CHECK(number_at(json, {"a", "number"}) == 148000.0);
  CHECK(flag_at(json, {"a", "flag"}) == false);
  CHECK(numbers_at(json, {"a", "list"}) == std::vector<double>{1.0, 2.0});
  CHECK_FALSE(number_at(json, {"a", "flag"}));
  CHECK_FALSE(number_at(json, {"a", "none", "deeper"}));
  CHECK(time_at(json, {"local"})->seconds == Approx(1784902573.25));
  CHECK_FALSE(time_at(json, {"local"})->is_utc);
  CHECK(time_at(json, {"utc"})->is_utc);
  CHECK_FALSE(time_at(json, {"short"}));
}

TEST_CASE("a stamp is a time only as the tool writes it") {
  CHECK(stamp_seconds("20260724_141613") == 1784902573);
  for (const char* wrong : {"20261324_141613", "20260724-141613", "20260724_1416",
                            "20260724_251613", "2026072a_141613", "1nodex8ppn"})
    CHECK_FALSE(stamp_seconds(wrong));
}

}  // namespace
}  // namespace bench::mlperf::storage
