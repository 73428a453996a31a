#include "training/trainer/run_progress.h"

#include "core/error.h"

namespace bench::training {
namespace {

/// In the order of CurvePoint.
Json row_of(const CurvePoint& p) {
  return {p.step, p.samples, p.seconds, p.gap, p.native, p.floor, p.loss};
}

CurvePoint point_of(const Json& row) {
  const auto number = [&](std::size_t column) { return row.at(column).get<double>(); };
  return {row.at(0).get<std::int64_t>(),
          number(1),
          number(2),
          number(3),
          number(4),
          number(5),
          number(6)};
}

}  // namespace

Json to_json(const RunProgress& progress) {
  Json curve = Json::array();
  for (const CurvePoint& point : progress.curve) curve.push_back(row_of(point));
  return {{"elapsed_s", progress.elapsed.value},
          {"curve", curve},
          {"norms", {progress.norms.seen, progress.norms.mean, progress.norms.variance}},
          {"loss_scale",
           {progress.loss_scale.value, progress.loss_scale.unbroken, progress.loss_scale.skipped}}};
}

RunProgress run_progress_from_json(const Json& json) try {
  RunProgress progress;
  progress.elapsed = {json.at("elapsed_s").get<double>()};
  for (const Json& row : json.at("curve")) progress.curve.push_back(point_of(row));
  const Json& norms = json.at("norms");
  progress.norms = {norms.at(0).get<int>(), norms.at(1).get<double>(), norms.at(2).get<double>()};
  const Json& scale = json.at("loss_scale");
  progress.loss_scale = {scale.at(0).get<double>(), scale.at(1).get<std::int64_t>(),
                         scale.at(2).get<std::int64_t>()};
  return progress;
} catch (const Json::exception& error) {
  throw Error(ErrorKind::input,
              std::string("the training progress in the checkpoint is damaged: ") + error.what(),
              "restart the training from the beginning");
}

}  // namespace bench::training
