// The process between a rank and a foreign command, so that nothing of the command survives: it
// adopts whatever the command's descendants leave behind (PR_SET_CHILD_SUBREAPER), and ends them
// all when the command ends, when the rank says so, and when the rank dies, however it dies. It has
// a session of its own: what kills the rank's session leaves it time to clean up.
#pragma once

namespace bench::external {

/// The option of bench-rank that makes it one.
inline constexpr const char* kSuperviseOption = "--supervise";
inline constexpr int kCleanupSeconds = 60;

/// What follows the option: GRACE_S FOLDER COUNT [CLEANUP...] PROGRAM [ARGUMENT...]. The program is
/// found in PATH and runs in the folder ("" for ours), in a process group of its own. CLEANUP is a
/// command of COUNT words, run when all is over, for what was done on the command's behalf by
/// others (a container); it has kCleanupSeconds. The descriptors:
///   0: from the owner: a byte asks to stop (SIGTERM to all, after GRACE_S SIGKILL), and so does
///   its
///      end, because then the owner is gone
///   1, 2: what the command gets as stdout and stderr; its stdin is /dev/null
///   3: to the owner, a line each: "started PID" or "failed ERRNO", then "exit CODE" or "signal
///      NUMBER" of the command, "left COUNT", the processes that it had left behind, or "stuck
///      COUNT", those that not even SIGKILL ended; last "cleanup CODE" where there is one, 0 where
///      it ended well
/// Returns this program's own exit code.
int supervise(int argc, char** argv);

}  // namespace bench::external
