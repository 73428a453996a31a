#include "results/import/importers.h"

namespace bench {

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = {
      {"nccl-tests", "Output of nccl-tests programs such as all_reduce_perf, or their -J file",
       import_nccl_tests},
      {"osu", "Output of an OSU micro-benchmark", import_osu},
      {"nvbandwidth", "Output of nvbandwidth, also with -j", import_nvbandwidth},
      {"fio", "Output of fio --output-format=json or json+", import_fio},
      {"superbench", "SuperBench results-summary.jsonl", import_superbench},
      {"reframe", "ReFrame performance log", import_reframe},
      {"babelstream", "Output of BabelStream, also with --csv", import_babelstream},
      {"csv", "run,time,host,device,metric,params,unit,better,value: one row per value",
       import_csv}};
  return formats;
}

}  // namespace bench
