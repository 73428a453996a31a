#include <fmt/format.h>

#include <cmath>

#include "core/fields.h"
#include "results/regression/calibration.h"

namespace bench {
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
  std::string text = fmt::format(
      "{} series at one level; night-to-night noise {}, lag-1 correlation {:.2f}\n\n",
      calibration.series, percent(calibration.sigma), calibration.correlation);
  text += rates_table(calibration, style) + "\n" + power_table(calibration, style);
  if (calibration.decided > 0)
    text += fmt::format("\nof {} reviewed findings, {} were marked as noise\n",
                        calibration.decided, calibration.called_noise);
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
