// One side of a comparison, as written on a command line.
#pragma once

#include <string>
#include <vector>

#include "results/store/history.h"

namespace bench {

/// One side. `hardware` narrows the selection: the product must appear in the configuration of each
/// value.
struct Selector {
  std::string text;  // as it was written
  Selection selection = {};
  std::string hardware = {};  // part of the name of a processor or GPU, in small letters
  std::string file = {};      // an exported run instead of the database
};

/// KIND:VALUE, several joined by '+':
///   run:ID, ID, latest, latest~N   runs, by id or its beginning; the N-th before the newest
///   label:NAME=VALUE               runs with this label
///   host:NAMES                     "n1" or "n[1-8,12]"
///   hardware:NAME                  "h100": part of the name of a GPU or processor
///   device:NAME                    "cuda:3"
///   time:FROM..TO                  days or moments; either may be empty, TO is exclusive
///   file:PATH                      what `benchctl export json|jsonl` wrote
/// `runs`: ids, oldest first, that latest counts in and that beginnings must fit. Throws
/// Error(usage) for another kind and Error(input) for a value that cannot be.
/// A path of an existing file needs no `file:`.
Selector parse_selector(const std::string& text, const std::vector<std::string>& runs);

/// The run that "latest" or "latest~N" names among `runs`, oldest first; empty for other texts.
/// Throws Error(input) if there are too few.
std::string latest_run(const std::string& text, const std::vector<std::string>& runs);

/// Whether it is a file rather than part of the database.
bool is_file_selector(const std::string& text);

}  // namespace bench
