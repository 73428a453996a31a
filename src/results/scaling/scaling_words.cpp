#include "results/scaling/scaling_words.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

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
  text += parameter_words("alpha", fit.alpha, fit.model == "usl" ? "contention" : "serial fraction");
  if (fit.model == "usl") text += ", " + parameter_words("beta", fit.beta, "crosstalk");
  return text + fmt::format("; residual {:.2g} %", 100.0 * fit.deviation);
}

std::string peak_words(const ScalingCurve& curve, const ScalingFit& fit) {
  const double best = fit.best_n();
  if (!std::isfinite(best)) return "";
  const double rate = value_of(curve.law, best, fit.rate(best));
  return fmt::format("Peak at {:.0f} {} ({}{})", best, curve.over,
                     format(rate, curve.unit),
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

}  // namespace bench
