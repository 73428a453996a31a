// Published entries for tests.
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/published/published_entry.h"

namespace bench::mlperf {

/// Ten runs within 1 % of `minutes`, which is their olympic mean.
inline PublishedEntry published(const std::string& submitter, const std::string& system, int nodes,
                                double minutes, double samples = 1000.0) {
  PublishedEntry entry;
  entry.submitter = submitter;
  entry.system = system;
  entry.benchmark = "llama31_8b";
  entry.division = "closed";
  entry.description = system_description({{"submitter", submitter},
                                          {"system_name", system + " (a name)"},
                                          {"number_of_nodes", nodes},
                                          {"accelerators_per_node", "8"},
                                          {"accelerator_model_name", "GPU X1"},
                                          {"host_processor_model_name", "CPU"},
                                          {"operating_system", "Linux"}});
  for (int i = 0; i < 10; ++i) {
    const double place = (i - 4.5) / 4.5;
    entry.runs.push_back({"result_" + std::to_string(i) + ".txt", true, "",
                          minutes * (1.0 + 0.01 * place), samples, 1'700'000'000'000 + i * 60'000});
  }
  entry.olympic_minutes = minutes;
  entry.score_minutes = minutes;
  entry.samples = samples;
  entry.global_batch_size = 16;
  return entry;
}

}  // namespace bench::mlperf
