#include "results/predictions/checkpoint_time.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench {

double young_interval(double checkpoint_s, double mtbf_s) {
  return std::sqrt(2 * checkpoint_s * mtbf_s);
}

double daly_interval(double checkpoint_s, double mtbf_s) {
  if (checkpoint_s >= 2 * mtbf_s) return mtbf_s;
  const double ratio = checkpoint_s / (2 * mtbf_s);
  return young_interval(checkpoint_s, mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) -
         checkpoint_s;
}

double goodput(double interval_s, double checkpoint_s, double restart_s, double mtbf_s) {
  const double wall =
      mtbf_s * std::exp(restart_s / mtbf_s) * std::expm1((interval_s + checkpoint_s) / mtbf_s);
  return interval_s / wall;
}

Prediction predict_checkpoint(const CheckpointQuestion& question) {
  const double write_s = question.bytes / question.bytes_per_second;
  const double stall_s = question.stall_s > 0.0 ? question.stall_s : write_s;
  const double mtbf_s = question.device_mtbf_s / question.devices;
  if (!(mtbf_s > 0.0) || !(question.bytes_per_second > 0.0))
    throw Error(ErrorKind::input, "the mean time between failures or the write rate is missing",
                "give --mtbf of a device and --bandwidth of all writers");
  const double best = std::max(daly_interval(stall_s, mtbf_s), write_s);
  const double interval = question.interval_s > 0.0 ? question.interval_s : best;
  const double useful = goodput(interval, stall_s, question.restart_s, mtbf_s);
  Prediction answer{.question = "checkpoint", .model = question.model};
  answer.input("bytes", question.bytes, "given", PredictedUnit::bytes);
  answer.input("bytes_per_second", question.bytes_per_second, question.rate_source,
               PredictedUnit::bytes_per_second);
  answer.input("device_mtbf_s", question.device_mtbf_s, "given", PredictedUnit::seconds);
  answer.input("devices", question.devices, "given");
  answer.input("restart_s", question.restart_s, "given", PredictedUnit::seconds);
  answer.what = "best interval between checkpoints, work between two";
  answer.unit = PredictedUnit::seconds;
  answer.value = best;
  // The mean time between failures of a fleet is seldom known within less than a factor of two.
  answer.low = std::max(daly_interval(stall_s, mtbf_s / 2), write_s);
  answer.high = std::max(daly_interval(stall_s, mtbf_s * 2), write_s);
  answer.part("write_s", write_s, PredictedUnit::seconds);
  answer.part("stall_s", stall_s, PredictedUnit::seconds);
  answer.part("mtbf_s", mtbf_s, PredictedUnit::seconds);
  answer.part("young_interval_s", young_interval(stall_s, mtbf_s), PredictedUnit::seconds);
  if (question.interval_s > 0.0) answer.part("interval_s", interval, PredictedUnit::seconds);
  answer.part("goodput", useful, PredictedUnit::ratio);
  answer.formula =
      "Daly: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C; goodput = interval / (M e^(R/M) "
      "(e^((interval + C)/M) - 1))";
  answer.sources = {"Young 1974, doi 10.1145/361147.361115",
                    "Daly 2006, doi 10.1016/j.future.2004.11.016"};
  answer.notes = {"low and high: with half and twice the mean time between failures"};
  return answer;
}

}  // namespace bench
