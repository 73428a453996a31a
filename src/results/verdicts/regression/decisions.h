// Decisions of people on findings: acked, fixed, noise or reopened. Stored in the journal, whose
// text begins with the finding's ID, so they survive a rebuild.
#pragma once

#include <string>
#include <vector>

#include "results/store/journal.h"
#include "results/verdicts/regression/regression.h"

namespace bench {

/// In journal order; entries on other subjects are skipped.
std::vector<Decision> decisions_of(const Journal& journal);

/// The journal line of a decision. Throws Error(input) for an invalid ID.
JournalEntry entry_of(const Decision& decision);

/// Sets each finding's state from the last decision with its ID on a run within its interval or
/// three values around it, as later nights shift the position of a change. A fixed finding reopens
/// if a later value still shows it.
void decide(std::vector<ChangeFinding>& findings, const std::vector<Decision>& decisions);

/// The findings that `id`, or its beginning, names. Throws Error(input) with the nearest id for one
/// that names none.
std::vector<const ChangeFinding*> findings_named(const std::vector<ChangeFinding>& findings,
                                                 const std::string& id);

}  // namespace bench
