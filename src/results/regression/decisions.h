// What people decided on findings: acked, fixed, noise, or open again. Kept in the journal, whose
// text begins with the finding's id; so a rebuild keeps it, and anybody can read it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/journal.h"
#include "results/regression/regression.h"

namespace bench {

/// In the order of the journal; entries about anything else are left out.
std::vector<Decision> decisions_of(const Journal& journal);

/// The line of the journal that says so. Throws Error(input) for an id that is none.
JournalEntry entry_of(const Decision& decision);

/// Sets each finding's state from the last decision on it: of its id, at a run within its interval
/// or three of its values beside it, since more nights move where a change is seen. What was said
/// to be fixed is open again when a value measured later still shows it.
void decide(std::vector<ChangeFinding>& findings, const std::vector<Decision>& decisions);

/// The findings that `id`, or its beginning, names. Throws Error(input) with the nearest id for one
/// that names none.
std::vector<const ChangeFinding*> findings_named(const std::vector<ChangeFinding>& findings,
                                                 const std::string& id);

}  // namespace bench
