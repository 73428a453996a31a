#include "results/output/verdicts/calibration_output.h"

#include <fmt/format.h>

#include <cmath>

#include "core/fields.h"
#include "results/output/document/plot.h"

namespace bench {
namespace {

std::string percent_words(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100.0 * share) : "";
}

DocumentCell numeric_share(double share) { return numeric(share, percent_words(share)); }

DocumentTable rates_table(const Calibration& calibration) {
  DocumentTable table{{{"false alarms", false},
                       {"nominal"},
                       {"observed"},
                       {"95 % interval"},
                       {"tests"},
                       {"vs. nominal", false}}};
  for (const CalibrationRate& rate : calibration.rates) {
    const bool too_many = rate.low() > rate.nominal;
    table.rows.push_back(
        {{rate.what},
         numeric_share(rate.nominal),
         numeric_share(rate.observed()),
         {percent_words(rate.low()) + " to " + percent_words(rate.high()), rate.low()},
         count_cell(rate.tests),
         {.text = too_many ? "above nominal" : "at or below nominal",
          .tone = too_many ? Tone::bad : Tone::good}});
  }
  return table;
}

double found_share(const CalibrationPower& power) {
  return power.tests > 0 ? static_cast<double>(power.found) / static_cast<double>(power.tests)
                         : kNoValue;
}

/// One line per size of loss.
Plot power_plot(const Calibration& calibration) {
  Plot plot{.title = "Detectable losses",
            .x_label = "nights since",
            .y_label = "detected share",
            .rules = {{"all", 1.0}}};
  for (const CalibrationPower& power : calibration.power) {
    const std::string name = percent_words(power.loss);
    if (plot.series.empty() || plot.series.back().name != name)
      plot.series.push_back({.name = name, .x = {}, .y = {}, .mark = Mark::line_points});
    plot.series.back().x.push_back(static_cast<double>(power.nights));
    plot.series.back().y.push_back(found_share(power));
  }
  return plot;
}

DocumentTable power_table(const Calibration& calibration) {
  DocumentTable table{{{"loss"}, {"nights since"}, {"detected"}, {"of series"}}};
  for (const CalibrationPower& power : calibration.power)
    table.rows.push_back({numeric_share(power.loss), count_cell(power.nights),
                          numeric_share(found_share(power)), count_cell(power.tests)});
  return table;
}

}  // namespace

Document to_document(const Calibration& calibration) {
  Document document{.title = "Calibration"};
  if (calibration.series == 0) {
    document.add(Paragraph{
        calibration.constant > 0
            ? "All series with twenty values at one level are constant: nothing to calibrate."
            : "No series has twenty values at one level yet: not enough history to calibrate."});
    return document;
  }
  document.add(Paragraph{
      fmt::format("{} series at one level; night-to-night noise {}, lag-1 correlation {:.2f}.",
                  calibration.series, percent_words(calibration.sigma), calibration.correlation) +
      (calibration.constant > 0
           ? fmt::format(" {} constant series are left out.", calibration.constant)
           : "")});
  if (calibration.decided > 0)
    document.add(Paragraph{fmt::format("Of {} reviewed findings, {} were marked as noise.",
                                       calibration.decided, calibration.called_noise)});
  document.add(Heading{"False alarms without a known change"});
  document.add(rates_table(calibration));
  document.add(Heading{"Detection power by size of the loss"});
  if (!calibration.power.empty())
    document.add(
        Figure{to_svg(power_plot(calibration)), "By size of the loss and number of nights since"});
  document.add(power_table(calibration));
  return document;
}

Json to_json(const Calibration& calibration) {
  Json rates = Json::array(), powers = Json::array();
  for (const CalibrationRate& rate : calibration.rates)
    rates.push_back({{"what", rate.what},
                     {"nominal", rate.nominal},
                     {"observed", number_or_null(rate.observed())},
                     {"low", number_or_null(rate.low())},
                     {"high", number_or_null(rate.high())},
                     {"tests", rate.tests},
                     {"alarms", rate.alarms}});
  for (const CalibrationPower& power : calibration.power)
    powers.push_back({{"loss", power.loss},
                      {"nights", power.nights},
                      {"tests", power.tests},
                      {"found", power.found}});
  return {{"series", calibration.series},
          {"constant", calibration.constant},
          {"sigma", number_or_null(calibration.sigma)},
          {"correlation", number_or_null(calibration.correlation)},
          {"rates", rates},
          {"power", powers},
          {"decided", calibration.decided},
          {"called_noise", calibration.called_noise}};
}

}  // namespace bench
