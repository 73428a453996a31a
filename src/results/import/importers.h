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
};

/// All throw Error(input) for unknown content, truncated output, and a file without results.
void import_nccl_tests(const ImportedFile& file, ImportSink& sink);   // text and JSON (-J)
void import_osu(const ImportedFile& file, ImportSink& sink);          // OSU micro-benchmarks
void import_nvbandwidth(const ImportedFile& file, ImportSink& sink);  // text and JSON (-j)
void import_fio(const ImportedFile& file, ImportSink& sink);          // --output-format=json
void import_superbench(const ImportedFile& file, ImportSink& sink);   // results-summary.jsonl
void import_reframe(const ImportedFile& file, ImportSink& sink);      // a performance log
void import_babelstream(const ImportedFile& file, ImportSink& sink);  // text and --csv
/// run,time,host,...: docs/importing.md
void import_csv(const ImportedFile& file, ImportSink& sink);

struct ImportFormat {
  const char* name;   // on the command line
  const char* title;  // one-line description
  void (*read)(const ImportedFile& file, ImportSink& sink);
};
const std::vector<ImportFormat>& import_formats();

}  // namespace bench
