#include "results/import/importers.h"

namespace bench {

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = {
      {"nccl-tests", "Output of nccl-tests or rccl-tests, such as all_reduce_perf, or a -J file",
       import_nccl_tests},
      {"osu", "Output of an OSU micro-benchmark", import_osu},
      {"nvbandwidth", "Output of nvbandwidth, also with -j", import_nvbandwidth},
      {"fio", "Output of fio --output-format=json or json+", import_fio},
      {"superbench", "SuperBench results-summary.jsonl", import_superbench},
      {"reframe", "ReFrame performance log", import_reframe},
      {"babelstream", "Output of BabelStream, also with --csv", import_babelstream},
      {"dcgm-diag", "Output of dcgmi diag -j", import_dcgm_diag},
      {"perftest", "Output of perftest programs such as ib_write_bw", import_perftest},
      {"transferbench", "Output of TransferBench, also as CSV", import_transferbench},
      {"stress-ng", "Log of stress-ng --metrics, or its --yaml file", import_stress_ng},
      {"hpl", "Output of HPL (HPL.out or a log)", import_hpl},
      {"hpcg", "Result file of HPCG, HPCG-Benchmark_*.txt", import_hpcg},
      {"mlpstorage", "summary.json of an MLPerf Storage run", import_mlpstorage},
      {"mlperf-inference", "mlperf_log_summary.txt of LoadGen", import_mlperf_inference},
      {"mlperf-endpoints", "result_summary.json of MLPerf Endpoints", import_mlperf_endpoints},
      {"nccl-inspector", "Log of NCCL's Inspector plugin", import_nccl_inspector},
      {"csv", "run,time,host,device,metric,params,unit,better,value: one row per value",
       import_csv}};
  return formats;
}

}  // namespace bench
