// benchctl predict collective: from measured sizes of a run, or from a link's latency and
// bandwidth.
#include <algorithm>
#include <map>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/predictions/collective_time.h"
#include "runner/commands/predict/predict_command.h"
#include "runner/commands/selection_options.h"

namespace bench {
namespace {

struct CollectiveOptions : PredictOptions {
  std::string side, algorithm = "ring";
  CollectiveQuestion question = {};
};

/// Those of other sizes than the wanted one: a prediction that is checked must not know the answer.
void leave_out(double bytes, std::vector<MeasuredCollective>& measured) {
  std::erase_if(measured, [bytes](const MeasuredCollective& one) { return one.bytes == bytes; });
}

/// The measured times of the operation by size, over the number of ranks nearest to the wanted one;
/// of several series of one size (buffers in and out of place) the fastest.
void take_measured(CollectiveOptions& options) {
  CollectiveQuestion& question = options.question;
  const auto sides = read_sides(options, {options.side}, {"collective.latency"});
  std::map<int, std::map<double, double>> found;  // ranks -> bytes -> seconds
  for (const auto& [key, values] : sides.front().metrics) {
    const Json params = parse_json(key.params, "parameters");
    if (params.value("op", "") != question.operation || !params.contains("size_bytes")) continue;
    const double bytes = params.at("size_bytes").get<double>();
    const double seconds = median(values_of(values));
    auto& known = found[key.ranks];
    const auto [place, is_new] = known.emplace(bytes, seconds);
    if (!is_new) place->second = std::min(place->second, seconds);
  }
  if (found.empty())
    throw Error(ErrorKind::input,
                "'" + printable(options.side) + "' has no " + printable(question.operation) +
                    " of several sizes",
                "run the probe collective, such as `benchctl run collectives`");
  const auto nearest = std::ranges::min_element(
      found, {}, [&](const auto& one) { return std::abs(one.first - question.ranks); });
  question.measured_ranks = nearest->first;
  if (question.ranks == 0) question.ranks = nearest->first;
  question.measured_source = sides.front().name;
  for (const auto& [bytes, seconds] : nearest->second)
    question.measured.push_back({bytes, seconds});
  if (!options.check.empty()) leave_out(question.bytes, question.measured);
}

}  // namespace

void add_predict_collective(CLI::App& predict, CommandResult& result) {
  CLI::App* command = predict.add_subcommand(
      "collective", "Predict the time of a collective from a run, or from latency and bandwidth");
  command->footer(
      "Example: benchctl predict collective --operation all_reduce --bytes 1e9 --ranks 64 --from "
      "latest\n"
      "         benchctl predict collective --bytes 65536 --from latest --check latest\n"
      "         benchctl predict collective --bytes 1e9 --ranks 1024 --latency 4e-6 --bandwidth "
      "48e9");
  auto options = std::make_shared<CollectiveOptions>();
  CollectiveQuestion& question = options->question;
  add_value(
      *command, "--operation", question.operation, "NAME",
      "Predict this operation: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, "
      "reduce, send_recv (default: all_reduce)");
  add_number(*command, "--bytes", question.bytes, "N", "Set the bytes of the message")->required();
  add_number(*command, "--ranks", question.ranks, "N",
             "Predict over so many ranks (default: those of --from)");
  add_value(*command, "--from", options->side, "SIDE",
            "Predict from these measurements: a run, latest, label:NAME=VALUE, ...");
  add_number(*command, "--latency", question.latency_s, "SECONDS", "Set the time of one step");
  add_number(*command, "--bandwidth", question.bytes_per_second, "RATE",
             "Set the bandwidth of a rank's slowest link, one direction, in B/s");
  add_value(*command, "--algorithm", options->algorithm, "ring|tree",
            "Set the algorithm (default: ring)");
  add_answer_options(*command, *options);
  command->callback([options, &result] {
    options->question.algorithm = kCollectiveAlgorithms.value(options->algorithm, "algorithm");
    if (!options->side.empty()) take_measured(*options);
    print_prediction(predict_collective(options->question), *options);
    result.code = ExitCode::ok;
  });
}

}  // namespace bench
