// The one compilation of Catch2's own code, which takes longer than most files of tests.
#pragma once

/// Runs the test cases of this program as its arguments say; 0 when none failed.
int run_tests(int argc, char** argv);

/// Whether the code under test has sanitizers, which tests' own code may not have: they take
/// several times the memory and time.
bool code_is_sanitized();
