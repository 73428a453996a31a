// Reads the output of other benchmarks. Each importer streams, takes only what it understands, and
// refuses the rest with file and line: a number whose meaning is guessed is worse than none.
// docs/importing.md says what of each format becomes what.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "results/importers/import_sink.h"

namespace bench {

struct ImportedFile {
  std::istream& text;
  std::string name;            // in messages
  std::string operation = {};  // nccl-tests: the collective, where its output does not name it
};

/// All throw Error(input) for what they do not understand, for output that ends before its end, and
/// for a file without a single result.
void import_nccl_tests(const ImportedFile& file, ImportSink& sink);   // text and JSON (-J)
void import_osu(const ImportedFile& file, ImportSink& sink);          // OSU micro-benchmarks
void import_nvbandwidth(const ImportedFile& file, ImportSink& sink);  // text and JSON (-j)
void import_fio(const ImportedFile& file, ImportSink& sink);          // --output-format=json
void import_superbench(const ImportedFile& file, ImportSink& sink);   // results-summary.jsonl
void import_reframe(const ImportedFile& file, ImportSink& sink);      // a performance log
void import_babelstream(const ImportedFile& file, ImportSink& sink);  // text and --csv
void import_csv(const ImportedFile& file,
                ImportSink& sink);  // run,time,host,...: docs/importing.md

struct ImportFormat {
  const char* name;   // on the command line
  const char* title;  // what it reads, one line
  void (*read)(const ImportedFile& file, ImportSink& sink);
};
const std::vector<ImportFormat>& import_formats();

}  // namespace bench
