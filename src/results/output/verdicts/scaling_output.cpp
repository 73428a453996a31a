#include "results/output/verdicts/scaling_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/output/document/plot.h"
#include "results/run/dimensions.h"

namespace bench {
namespace {

std::string parameter_words(const std::string& name, const FitParameter& parameter,
                            const std::string& what) {
  if (parameter.on_bound)
    return std::isfinite(parameter.high)
               ? fmt::format("{} {} 0 (at most {:.3g})", what, name, parameter.high)
               : fmt::format("{} {} 0", what, name);
  return fmt::format("{} {} {:.4g} [{:.4g}, {:.4g}]", what, name, parameter.value, parameter.low,
                     parameter.high);
}

std::string model_words(const ScalingFit& fit) {
  std::string text = fit.model == "usl" ? "USL: " : "Amdahl: ";
  text +=
      parameter_words("alpha", fit.alpha, fit.model == "usl" ? "contention" : "serial fraction");
  if (fit.model == "usl") text += ", " + parameter_words("beta", fit.beta, "crosstalk");
  return text + fmt::format("; residual {:.2g} %", 100.0 * fit.deviation);
}

std::string peak_words(const ScalingCurve& curve, const ScalingFit& fit) {
  const double best = fit.best_n();
  if (!std::isfinite(best)) return "";
  if (!(fit.beta.low > 0.0))
    return fmt::format("Peak not established: beta may be 0 (at the fitted beta: {:.0f} {})", best,
                       curve.over);
  const double rate = value_of(curve.law, best, fit.rate(best));
  return fmt::format("Peak at {:.0f} {} ({}{})", best, curve.over, format(rate, curve.unit),
                     best > 2.0 * fit.largest ? "; far beyond the measured range" : "");
}

std::string prediction_words(const ScalingCurve& curve, const ScalingPrediction& at) {
  return fmt::format("Prediction at {:g} {}: {} {} for one run", at.n, curve.over,
                     format(at.rate, curve.unit), range_words(at.low, at.high, curve.unit));
}

}  // namespace

std::string law_words(const ScalingCurve& curve) {
  const std::string base = fmt::format("{:g} {}", curve.base, curve.over);
  switch (curve.law) {
    case ScalingLaw::total_rate:
      return "Total rate; ideal: proportional to n. Base: " + base + ".";
    case ScalingLaw::own_rate:
      return "Rate per rank or device; ideal: constant. Base: " + base + ".";
    case ScalingLaw::strong_time:
      return "Time for a fixed total workload (strong scaling); ideal: 1/n. Base: " + base + ".";
    case ScalingLaw::weak_time:
      return "Time for a fixed workload per rank (weak scaling); ideal: constant. Base: " + base +
             ".";
  }
  return "";
}

std::vector<std::string> fit_lines(const ScalingCurve& curve) {
  std::vector<std::string> lines;
  if (curve.fits.empty()) {
    lines.push_back("No fit: " + curve.fit_words + ".");
  } else {
    const ScalingFit& fit = curve.fits.front();
    lines.push_back(model_words(fit) + " (" + curve.fit_words + ")");
    if (const std::string peak = peak_words(curve, fit); !peak.empty()) lines.push_back(peak);
  }
  if (curve.times)
    lines.push_back(fmt::format("Time: {} + {} ln n + {} n", format(Seconds{curve.times->constant}),
                                format(Seconds{curve.times->per_log}),
                                format(Seconds{curve.times->per_worker})));
  if (std::isfinite(curve.serial) && curve.law == ScalingLaw::weak_time)
    lines.push_back(fmt::format("Gustafson: serial fraction {:.3g}", curve.serial));
  for (const ScalingPrediction& at : curve.predictions)
    lines.push_back(prediction_words(curve, at));
  return lines;
}

std::string range_words(double low, double high, Unit unit) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  return fmt::format("[{}, {}]", format(low, unit), format(high, unit));
}

std::string share_words(const Ratio& ratio) {
  if (!std::isfinite(ratio.value)) return "";
  std::string text = fmt::format("{:.1f} %", 100.0 * ratio.value);
  if (std::isfinite(ratio.low) && std::isfinite(ratio.high))
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * ratio.low, 100.0 * ratio.high);
  return text;
}

namespace {

/// {"value": 0.016, "low": 0.0153, "high": 0.0166, "on_bound": false}.
Json interval_json(const FitParameter& parameter) {
  return {{"low", parameter.low}, {"high", parameter.high}, {"on_bound", parameter.on_bound}};
}

Json fit_json(const ScalingFit& fit) {
  Json json = {
      {"model", fit.model},
      {"parameters", {{"lambda", fit.lambda.value}, {"alpha", fit.alpha.value}}},
      {"intervals", {{"lambda", interval_json(fit.lambda)}, {"alpha", interval_json(fit.alpha)}}},
      {"deviation", fit.deviation},
      {"aicc", fit.aicc},
      {"best_n", fit.best_n()}};
  if (fit.model == "usl") {
    json["parameters"]["beta"] = fit.beta.value;
    json["intervals"]["beta"] = interval_json(fit.beta);
  }
  return json;
}

Json point_json(const ScalePoint& point) {
  return {{"n", point.n},
          {"runs", point.values.size()},
          {"value", point.value.value},
          {"low", point.value.low},
          {"high", point.value.high},
          {"efficiency", point.efficiency.value},
          {"efficiency_low", point.efficiency.low},
          {"efficiency_high", point.efficiency.high},
          {"speed_up", point.speed_up},
          {"karp_flatt", point.karp_flatt},
          {"communication", point.communication},
          {"samples_penalty", point.samples_penalty},
          {"time_efficiency", point.time_efficiency}};
}

Json curve_json(const ScalingCurve& curve) {
  Json json = {{"metric", curve.metric},
               {"params", curve.params},
               {"device", curve.device},
               {"host", text_or_null(curve.host)},
               {"case", text_or_null(curve.case_name)},
               {"over", curve.over},
               {"kind", text_or_null(curve.kind)},
               {"law", to_string(curve.law)},
               {"unit", std::string(to_string(curve.unit))},
               {"better", std::string(to_string(curve.better))},
               {"base", curve.base},
               {"points", Json::array()},
               {"fit", curve.fits.empty() ? Json() : fit_json(curve.fits.front())},
               {"other_fit", curve.fits.size() < 2 ? Json() : fit_json(curve.fits[1])},
               {"fit_reason", curve.fit_words},
               {"serial", curve.serial},
               {"predictions", Json::array()},
               {"interval", curve.interval}};
  for (const ScalePoint& point : curve.points) json["points"].push_back(point_json(point));
  for (const ScalingPrediction& at : curve.predictions)
    json["predictions"].push_back(
        {{"n", at.n}, {"value", at.rate}, {"low", at.low}, {"high", at.high}});
  json["times"] = curve.times ? Json{{"constant_s", curve.times->constant},
                                     {"per_log_s", curve.times->per_log},
                                     {"per_worker_s", curve.times->per_worker}}
                              : Json();
  return json;
}

}  // namespace

Json to_json(const ScalingReport& report) {
  Json json = {{"runs", report.runs},
               {"over", report.over},
               {"series", Json::array()},
               {"warnings", report.warnings},
               {"exit_code", static_cast<int>(report.exit_code)}};
  for (const ScalingCurve& curve : report.curves) json["series"].push_back(curve_json(curve));
  return json;  // NaN is printed as null
}

namespace {

constexpr int kSmooth = 60;  // points of a fitted line

PlotSeries measured_series(const ScalingCurve& curve) {
  PlotSeries series{"measured", {}, {}, {}, {}, Mark::points};
  for (const ScalePoint& point : curve.points) {
    series.x.push_back(point.n);
    series.y.push_back(point.efficiency.value);
    series.low.push_back(point.efficiency.low);
    series.high.push_back(point.efficiency.high);
  }
  return series;
}

/// Fit as efficiency relative to the measured base, like the points.
PlotSeries fitted_series(const ScalingCurve& curve, const ScalingFit& fit) {
  PlotSeries series{fit.model == "usl" ? "USL" : "Amdahl", {}, {}, {}, {}};
  const ScalePoint& base = curve.points.front();
  const double own = rate_of(curve.law, base.n, base.value.value) / base.n;
  const double last = 2.0 * curve.points.back().n;
  for (int i = 0; i <= kSmooth; ++i) {
    const double n = curve.base * std::pow(last / curve.base, i / static_cast<double>(kSmooth));
    const auto at = predict(fit, std::clamp(n, curve.base, last));
    if (!at) continue;
    series.x.push_back(n);
    series.y.push_back(at->rate / (n * own));
    series.low.push_back(at->low / (n * own));
    series.high.push_back(at->high / (n * own));
  }
  return series;
}

std::string drawing(const ScalingCurve& curve) {
  Plot plot{"Efficiency of " + curve.metric, curve.over, "efficiency", true};
  plot.series.push_back(measured_series(curve));
  for (const ScalingFit& fit : curve.fits) plot.series.push_back(fitted_series(curve, fit));
  // One band is enough to read.
  if (plot.series.size() > 2) plot.series[2].low.clear(), plot.series[2].high.clear();
  plot.rules.push_back({"ideal", 1.0});
  return to_svg(plot);
}

DocumentTable points_table(const ScalingCurve& curve) {
  DocumentTable table{{{curve.over},
                       {"runs", true, 3},
                       {"value"},
                       {"interval", true, 2},
                       {"speedup", true, 4},
                       {"efficiency"},
                       {"Karp-Flatt", true, 1},
                       {"communication", true, 5},
                       {"samples to target", true, 6},
                       {"time efficiency", true, 7}}};
  for (const ScalePoint& point : curve.points)
    table.rows.push_back(
        {numeric(point.n, fmt::format("{:g}", point.n)),
         numeric(static_cast<double>(point.values.size()), std::to_string(point.values.size())),
         numeric(point.value.value, format(point.value.value, curve.unit)),
         {range_words(point.value.low, point.value.high, curve.unit)},
         numeric(point.speed_up, fmt::format("{:.3g}", point.speed_up)),
         numeric(point.efficiency.value, share_words(point.efficiency)),
         numeric(point.karp_flatt, fmt::format("{:.4f}", point.karp_flatt)),
         numeric(point.communication, share_words({point.communication})),
         numeric(point.samples_penalty, fmt::format("x {:.2f}", point.samples_penalty)),
         numeric(point.time_efficiency, share_words({point.time_efficiency}))});
  return table;
}

std::string no_curves(const ScalingReport& report) {
  return fmt::format(
      "No metric was measured at two values of {} ({} at one). Use cases with scope \"ladder\" or "
      "several ranks_per_host, or --over NAME for a parameter such as threads.",
      report.over, report.seen);
}

/// Efficiency at the largest number of workers, curve by curve.
Headline headline_of(const ScalingReport& report) {
  constexpr std::size_t kMost = 3;
  Headline headline{report.curves.empty() ? "NOT MEASURED" : "MEASURED",
                    report.curves.empty() ? Tone::unsure : Tone::good,
                    report.curves.empty()
                        ? no_curves(report)
                        : fmt::format("{} curve{} over {}", report.curves.size(),
                                      report.curves.size() == 1 ? "" : "s", report.over)};
  for (const ScalingCurve& curve : report.curves) {
    if (headline.reasons.items.size() == kMost) break;
    if (curve.points.empty()) continue;
    const ScalePoint& last = curve.points.back();
    headline.reasons.items.push_back(
        {fmt::format("{}: efficiency {} at {:g} {}", title_of(curve), share_words(last.efficiency),
                     last.n, curve.over)});
  }
  return headline;
}

}  // namespace

Document to_document(const ScalingReport& report) {
  Document document{.title = "Scaling"};
  document.add(headline_of(report), Audience::page);
  document.add(Paragraph{"Scaling of runs " + join(report.runs, ", ")});
  if (report.curves.empty()) document.add(Paragraph{no_curves(report)}, Audience::terminal);
  for (const ScalingCurve& curve : report.curves) {
    document.add(Heading{title_of(curve)});
    document.add(Lines{{law_words(curve)}});
    document.add(
        Figure{drawing(curve),
               "Bars and band: " + curve.interval +
                   "; the band of a law is the 95 % prediction interval of one more run, up to "
                   "twice the largest measured value."});
    document.add(points_table(curve));
    std::vector<std::string> lines = fit_lines(curve);
    lines.push_back(curve.interval);
    document.add(lines_of(lines));
  }
  for (const std::string& warning : report.warnings) document.add(Note{warning});
  return document;
}

}  // namespace bench
