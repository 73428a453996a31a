#include "runner/hardware/hardware_catalogue.h"

#include "core/error.h"
#include "runner/hardware/hardware_text.h"
#include "tests/runner/shipped_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

std::string name_of(const DeviceFacts& facts) {
  const HardwareMatch match = shipped_catalogue().match(facts);
  return match.entry ? match.entry->name : match.reason;
}

DeviceFacts device(const std::string& name, std::optional<double> bytes = {}) {
  DeviceFacts facts;
  facts.name = name;
  facts.memory_bytes = bytes;
  return facts;
}

std::string catalogue_refusal(const Json& file) {
  try {
    hardware_entry(file, "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// What the check says of a file after one change.
std::vector<Finding> findings_after(const std::string& name, const std::string& pointer,
                                    const Json& value) {
  Json file = shipped_catalogue().find(name)->json;
  file[Json::json_pointer(pointer)] = value;
  return check_hardware(shipped_catalogue(), hardware_entry(file, "x.json"));
}

std::string kind_after(const std::string& name, const std::string& pointer, const Json& value) {
  const auto findings = findings_after(name, pointer, value);
  return findings.empty() ? "fine" : std::string(to_string(findings.front().kind));
}

}  // namespace

TEST_CASE("the files agree with themselves and with what they report") {
  CHECK(shipped_catalogue().all().size() >= 20);
  for (const HardwareEntry& entry : shipped_catalogue().all())
    for (const Finding& finding : check_hardware(shipped_catalogue(), entry))
      FAIL_CHECK(finding.text);
}

TEST_CASE("a wrong figure in a file is found") {
  const std::string h100 = "h100-sxm5-80gb";
  REQUIRE(shipped_catalogue().find(h100)->json["/compute/peaks/4/dtypes/0"_json_pointer] == "bf16");
  CHECK(kind_after(h100, "/compute/peaks/4/operations_per_second", 989.4e12) == "fine");
  CHECK(kind_after(h100, "/compute/peaks/4/operations_per_second", 1978.9e12) == "sparse");
  CHECK(kind_after(h100, "/compute/peaks/4/operations_per_second", 98.94e12) == "power_of_ten");
  CHECK(kind_after(h100, "/compute/peaks/4/operations_per_second", 1070e12) == "above_peak");
  CHECK(kind_after(h100, "/memory/bandwidth_bytes_per_second", 335.2e9) == "power_of_ten");
  CHECK(kind_after(h100, "/memory/bandwidth_bytes_per_second", 4.8e12) == "above_peak");
  CHECK(kind_after(h100, "/link/bytes_per_second", 900e9) == "above_link");
  CHECK(kind_after(h100, "/reported/0/value", 794.5e9) == "unit");
}

TEST_CASE("a sparse figure is found where neither clock nor multiprocessors are known") {
  REQUIRE(
      shipped_catalogue().find("b300-sxm-288gb")->json["/compute/peaks/3/dtypes/0"_json_pointer] ==
      "fp8_e4m3");
  CHECK(kind_after("b300-sxm-288gb", "/compute/peaks/3/operations_per_second", 9000e12) ==
        "sparse");
  CHECK(kind_after("h100-nvl-94gb", "/compute/peaks/4/operations_per_second", 1671e12) ==
        "above_peak");
}

TEST_CASE("a device is found by what its driver calls it") {
  CHECK(name_of(device("NVIDIA H200", 150.75e9)) == "h200-sxm-141gb");
  CHECK(name_of(device("NVIDIA H100 80GB HBM3")) == "h100-sxm5-80gb");
  CHECK(name_of(device("NVIDIA H100 PCIe")) == "h100-pcie-80gb");
  CHECK(name_of(device("NVIDIA B200", 191.5e9)) == "b200-sxm-180gb");
  CHECK(name_of(device("Tesla V100-SXM2-16GB-LS")) == "v100-sxm2-16gb");
  CHECK(name_of(device("AMD Instinct MI300X OAM")) == "mi300x");
}

TEST_CASE("an unknown or ambiguous device matches no product, with a reason") {
  CHECK_THAT(name_of(device("NVIDIA RTX 9000")), Contains("named 'NVIDIA RTX 9000'"));
  CHECK_THAT(name_of(device("NVIDIA H200", 20e9)), Contains("matches none of: h200-sxm-141gb"));
  auto small = *shipped_catalogue().find("h100-pcie-80gb"),
       large = *shipped_catalogue().find("h100-sxm5-80gb");
  small.device_names = large.device_names = {"H100*"};
  const HardwareCatalogue twins({small, large});
  CHECK_THAT(twins.match(device("H100 PG506")).reason,
             Contains("any of: h100-pcie-80gb, h100-sxm5-80gb"));
  DeviceFacts facts = device("H100 PG506");
  facts.multiprocessors = 114;
  REQUIRE(twins.match(facts).entry);
  CHECK(twins.match(facts).entry->name == "h100-pcie-80gb");
  facts.multiprocessors = 60;
  CHECK_FALSE(twins.match(facts).entry);
}

TEST_CASE("a family is all of its variants") {
  CHECK(shipped_catalogue().like("h100").size() == 3);
  CHECK(shipped_catalogue().like("l40").size() == 1);
  CHECK(shipped_catalogue().like("h").empty());
  CHECK(shipped_catalogue().like("").empty());
}

TEST_CASE("an invalid file is refused with the location") {
  const Json good = shipped_catalogue().find("l40")->json;
  CHECK(catalogue_refusal(good) == "accepted");
  Json file = good;
  file["compute"]["peaks"][0]["source"] = "datashet";
  CHECK_THAT(catalogue_refusal(file), Contains("x.json: /compute/peaks/0/source"));
  CHECK_THAT(catalogue_refusal(file), Contains("Did you mean 'datasheet'?"));
  file = good;
  file["compute"]["peaks"][0]["clock_hz"] = 2490;
  CHECK_THAT(catalogue_refusal(file), Contains("x.json: /compute/peaks/0/clock_hz"));
  file = good;
  file["memory"].erase("source");
  CHECK_THAT(catalogue_refusal(file), Contains("x.json: /memory"));
  CHECK_THAT(catalogue_refusal(Json::array()), Contains("x.json"));
}

TEST_CASE("a file with any odd value is refused, or shown and checked without a crash") {
  const Json good = shipped_catalogue().find("h100-nvl-94gb")->json;
  std::size_t refused = 0, read = 0;
  const Json places = good.flatten();
  for (const auto& [pointer, old] : places.items())
    for (const Json& odd :
         {Json(), Json(""), Json("*"), Json(-1), Json(0), Json(1e308), Json(1e-308), Json(true),
          Json::array(), Json::object(), Json(1000000000000)}) {
      Json file = good;
      file[Json::json_pointer(pointer)] = odd;
      INFO(pointer << " = " << dump(odd));
      try {
        const HardwareCatalogue one({hardware_entry(file, "x.json")});
        CHECK_FALSE(hardware_table(one).empty());
        CHECK_FALSE(hardware_details(one, one.all().front()).empty());
        CHECK_FALSE(dump(hardware_document(one, one.all().front())).empty());
        ++read;
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Contains("x.json: /"));
        ++refused;
      }
    }
  CHECK(refused > 500);
  CHECK(read > 50);
}
