#include "results/output/verdicts/calibration_output.h"

#include <fmt/format.h>

#include <cmath>

#include "core/fields.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/verdicts/regression/calibration.h"

namespace bench {
namespace {

// Calibration as a self-contained page: false alarms and detection power.

std::string percent_words(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100.0 * share) : "";
}

PageCell share_cell(double share) { return {.text = percent_words(share), .sort = share}; }

PageTable rates_page_table(const Calibration& calibration) {
  PageTable table{{"false alarms", "nominal", "observed", "from", "to", "tests", "vs. nominal"},
                  {}};
  for (const CalibrationRate& rate : calibration.rates) {
    const bool too_many = rate.low() > rate.nominal;
    table.rows.push_back({{rate.what},
                          share_cell(rate.nominal),
                          share_cell(rate.observed()),
                          share_cell(rate.low()),
                          share_cell(rate.high()),
                          {std::to_string(rate.tests), static_cast<double>(rate.tests)},
                          {too_many ? "above nominal" : "at or below nominal", kNoValue,
                           too_many ? "fail" : "pass"}});
  }
  return table;
}

double found_share(const CalibrationPower& power) {
  return power.tests > 0 ? static_cast<double>(power.found) / static_cast<double>(power.tests)
                         : kNoValue;
}

/// A line a loss.
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

PageTable power_page_table(const Calibration& calibration) {
  PageTable table{{"loss", "nights since", "found", "of series"}, {}};
  for (const CalibrationPower& power : calibration.power)
    table.rows.push_back({share_cell(power.loss),
                          {std::to_string(power.nights), static_cast<double>(power.nights)},
                          share_cell(found_share(power)),
                          {std::to_string(power.tests), static_cast<double>(power.tests)}});
  return table;
}

}  // namespace

std::string to_html(const Calibration& calibration) {
  Page page("Calibration");
  if (calibration.series == 0) {
    page.text("No series has twenty values at one level yet: not enough history to calibrate.");
    return page.html();
  }
  page.text(
      fmt::format("{} series at one level; night-to-night noise {}, lag-1 correlation {:.2f}.",
                  calibration.series, percent_words(calibration.sigma), calibration.correlation));
  if (calibration.decided > 0)
    page.text(fmt::format("Of {} reviewed findings, {} were marked as noise.", calibration.decided,
                          calibration.called_noise));
  page.heading("False alarms without a known change").table(rates_page_table(calibration));
  page.heading("Detection power by size of the loss");
  if (!calibration.power.empty())
    page.figure(to_svg(power_plot(calibration)), "By size of the loss and number of nights since");
  page.table(power_page_table(calibration));
  return page.html();
}

namespace {

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100.0 * share) : "n/a";
}

std::string rates_table(const Calibration& calibration, const TextStyle& style) {
  Table table({{"false alarms", false}, {"nominal"}, {"observed"}, {"95 % interval"}, {"tests"}});
  for (const CalibrationRate& rate : calibration.rates) {
    const bool too_many = rate.low() > rate.nominal;
    table.add({{rate.what},
               {percent(rate.nominal)},
               {percent(rate.observed()), too_many ? Paint::red : Paint::none},
               {percent(rate.low()) + " to " + percent(rate.high())},
               {std::to_string(rate.tests)}});
  }
  return table.render(2, style);
}

/// A line a loss, a column a number of nights.
std::string power_table(const Calibration& calibration, const TextStyle& style) {
  std::vector<Column> columns{{"detected loss", false}};
  std::vector<std::vector<Cell>> rows;
  for (const CalibrationPower& power : calibration.power) {
    if (rows.empty() || rows.back().front().text != percent(power.loss))
      rows.push_back({{percent(power.loss)}});
    if (rows.size() == 1) columns.push_back({fmt::format("{} nights", power.nights)});
    rows.back().push_back({power.tests > 0 ? percent(static_cast<double>(power.found) /
                                                     static_cast<double>(power.tests))
                                           : "n/a"});
  }
  Table table(columns);
  for (const auto& cells : rows) table.add(cells);
  return table.render(2, style);
}

}  // namespace

std::string to_text(const Calibration& calibration, const TextStyle& style) {
  if (calibration.series == 0)
    return "no series has twenty values at one level yet: not enough history to calibrate\n";
  std::string text =
      fmt::format("{} series at one level; night-to-night noise {}, lag-1 correlation {:.2f}\n\n",
                  calibration.series, percent(calibration.sigma), calibration.correlation);
  text += rates_table(calibration, style) + "\n" + power_table(calibration, style);
  if (calibration.decided > 0)
    text += fmt::format("\nof {} reviewed findings, {} were marked as noise\n", calibration.decided,
                        calibration.called_noise);
  return text;
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
          {"sigma", number_or_null(calibration.sigma)},
          {"correlation", number_or_null(calibration.correlation)},
          {"rates", rates},
          {"power", powers},
          {"decided", calibration.decided},
          {"called_noise", calibration.called_noise}};
}

}  // namespace bench
