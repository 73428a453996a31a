// Reads the output of other benchmarks. Importers stream, and refuse what they do not understand
// with file and line rather than guess. Mappings per format: docs/importing.md.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "results/import/collected_series.h"

namespace bench {

struct ImportedFile {
  std::istream& text;
  std::string name;            // in messages
  std::string operation = {};  // nccl-tests: the collective, if its output does not name it
  std::string program = {};    // csv: what measured the metrics whose names do not say it
};

/// All throw Error(input) for unknown content, truncated output, and a file without results.
void import_nccl_tests(const ImportedFile& file, ImportSink& sink);        // text and JSON (-J)
void import_osu(const ImportedFile& file, ImportSink& sink);               // OSU micro-benchmarks
void import_nvbandwidth(const ImportedFile& file, ImportSink& sink);       // text and JSON (-j)
void import_fio(const ImportedFile& file, ImportSink& sink);               // --output-format=json
void import_superbench(const ImportedFile& file, ImportSink& sink);        // results-summary.jsonl
void import_reframe(const ImportedFile& file, ImportSink& sink);           // a performance log
void import_babelstream(const ImportedFile& file, ImportSink& sink);       // text and --csv
void import_dcgm_diag(const ImportedFile& file, ImportSink& sink);         // dcgmi diag -j
void import_perftest(const ImportedFile& file, ImportSink& sink);          // ib_write_bw, ...
void import_transferbench(const ImportedFile& file, ImportSink& sink);     // text and CSV
void import_stress_ng(const ImportedFile& file, ImportSink& sink);         // --metrics and --yaml
void import_hpl(const ImportedFile& file, ImportSink& sink);               // HPL.out
void import_hpcg(const ImportedFile& file, ImportSink& sink);              // HPCG-Benchmark_*.txt
void import_mlpstorage(const ImportedFile& file, ImportSink& sink);        // summary.json
void import_mlperf_inference(const ImportedFile& file, ImportSink& sink);  // LoadGen's summary
void import_mlperf_endpoints(const ImportedFile& file, ImportSink& sink);  // result_summary.json
void import_nccl_inspector(const ImportedFile& file, ImportSink& sink);    // one object a line
/// run,time,host,...: docs/importing.md
void import_csv(const ImportedFile& file, ImportSink& sink);

struct ImportFormat {
  const char* name;   // on the command line
  const char* title;  // one-line description
  void (*read)(const ImportedFile& file, ImportSink& sink);
};
const std::vector<ImportFormat>& import_formats();

}  // namespace bench
