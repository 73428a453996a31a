#include "results/verdicts/regression/calibration.h"

#include "core/schema.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/calibration_output.h"
#include "tests/results/fleet_histories.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

using namespace bench;

namespace {

Calibration calibrated(double noise, const RegressionOptions& options = {}) {
  Calibrator calibrator(options, 1);
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    calibrator.add(MadeFleet(20, 60, noise, seed).members);
  return calibrator.result();
}

double found(const Calibration& calibration, double loss, std::size_t nights) {
  for (const CalibrationPower& power : calibration.power)
    if (power.loss == loss && power.nights == nights)
      return static_cast<double>(power.found) / static_cast<double>(power.tests);
  return kNoValue;
}

}  // namespace

TEST_CASE("normal noise has the nominal false alarm rate") {
  const Calibration calibration = calibrated(0.01);
  CHECK(calibration.series >= 75);
  CHECK(calibration.sigma == Approx(0.01).epsilon(0.1));
  for (const CalibrationRate& rate : calibration.rates) {
    INFO(rate.what << " " << rate.alarms << " of " << rate.tests);
    CHECK(rate.tests > 70);
    CHECK(rate.low() <= rate.nominal);
  }
  CHECK(calibration.rates[0].observed() == Approx(0.05).margin(0.02));
}

TEST_CASE("a 10 % loss under 1 % noise is detected at once, a 1 % loss is not") {
  const Calibration calibration = calibrated(0.01);
  CHECK(found(calibration, 0.10, 1) > 0.95);
  CHECK(found(calibration, 0.03, 7) > 0.9);
  CHECK(found(calibration, 0.01, 3) < 0.2);
  CHECK(found(calibrated(0.05), 0.03, 7) < 0.5);
}

TEST_CASE("findings marked as noise are counted next to the expected number") {
  RegressionOptions options;
  options.decisions = {{"0badcafe", "r", 0, FindingState::noise, 1, "ann", ""},
                       {"0badcaff", "r", 0, FindingState::acked, 2, "ann", ""},
                       {"0badcafd", "r", 0, FindingState::open, 3, "ann", ""}};
  const Calibration calibration = calibrated(0.01, options);
  CHECK(calibration.decided == 2);
  CHECK(calibration.called_noise == 1);
  CHECK(to_terminal(to_document(calibration), {}).find("1 were marked as noise") !=
        std::string::npos);
  CHECK_NOTHROW(
      Schema::load("schemas/report_calibration.json").check(to_json(calibration), "report"));
}

TEST_CASE("the calibration page draws a line per loss and marks alarm rates above nominal") {
  Calibration calibration = calibrated(0.01);
  std::string page = to_page(to_document(calibration));
  CHECK(occurrences(page, "<circle") == calibration.power.size());
  CHECK(page.find("above nominal") == std::string::npos);
  calibration.rates[0].alarms = calibration.rates[0].tests;
  page = to_page(to_document(calibration));
  CHECK(occurrences(page, "above nominal") == 1);
  CHECK(to_page(to_document(Calibration{})).find("not enough history to calibrate") !=
        std::string::npos);
}

TEST_CASE("constant series are counted and do not make the power look better") {
  Calibrator calibrator({}, 1);
  calibrator.add(MadeFleet(20, 60, 0.0, 1).members);
  const Calibration constant = calibrator.result();
  CHECK(constant.series == 0);
  CHECK(constant.constant == 20);
  CHECK(to_terminal(to_document(constant), {}).find("are constant") != std::string::npos);
  calibrator.add(MadeFleet(20, 60, 0.05, 1).members);
  CHECK(found(calibrator.result(), 0.01, 1) < 0.2);
}

TEST_CASE("without twenty nights there is not enough history to calibrate with") {
  Calibrator calibrator({}, 1);
  calibrator.add(MadeFleet(10, 12).members);
  CHECK(calibrator.result().series == 0);
  CHECK(to_terminal(to_document(calibrator.result()), {}).find("not enough history to calibrate") !=
        std::string::npos);
}

TEST_CASE("an observed share has Wilson's interval") {
  const CalibrationRate rate{"x", 0.05, 100, 5};
  CHECK(rate.low() == Approx(0.02154).epsilon(0.001));
  CHECK(rate.high() == Approx(0.11175).epsilon(0.001));
  CHECK(std::isnan(CalibrationRate{"x", 0.05}.low()));
}
