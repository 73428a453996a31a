#include "results/importers/importers.h"

namespace bench {

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = {
      {"nccl-tests", "What all_reduce_perf and its kind print, or wrote by -J", import_nccl_tests},
      {"osu", "What a program of the OSU micro-benchmarks prints", import_osu},
      {"nvbandwidth", "What nvbandwidth prints, also with -j", import_nvbandwidth},
      {"fio", "fio --output-format=json or json+", import_fio},
      {"superbench", "SuperBench's results-summary.jsonl", import_superbench},
      {"reframe", "A performance log of ReFrame", import_reframe},
      {"babelstream", "What BabelStream prints, also with --csv", import_babelstream},
      {"csv", "run,time,host,device,metric,params,unit,better,value: one row a value", import_csv}};
  return formats;
}

}  // namespace bench
