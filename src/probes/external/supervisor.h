// The process between a rank and an external command, so that no process of the command survives:
// it adopts the command's orphaned descendants (PR_SET_CHILD_SUBREAPER), and ends them all when the
// command ends, on the rank's request, and when the rank dies for any reason. It has its own
// session: whatever kills the rank's session leaves it time to clean up.
#pragma once

namespace bench::external {

/// The option that makes bench-rank a supervisor.
inline constexpr const char* kSuperviseOption = "--supervise";
inline constexpr int kCleanupSeconds = 60;

/// The arguments after the option: GRACE_S FOLDER COUNT [CLEANUP...] PROGRAM [ARGUMENT...]. The
/// program is found in PATH and runs in the folder ("" for ours), in its own process group. CLEANUP
/// is a command of COUNT words, run at the end, for what others did on the command's behalf (a
/// container); it has kCleanupSeconds. The descriptors:
///   0: from the owner; a byte asks to stop (SIGTERM to all, SIGKILL after GRACE_S), and so does
///      the end of the pipe: the owner is gone
///   1, 2: the command's stdout and stderr; its stdin is /dev/null
///   3: to the owner, a line each: "started PID" or "failed ERRNO"; "exit CODE" or "signal NUMBER"
///      of the command; "left COUNT", the processes that it left behind, or "stuck COUNT", those
///      that even SIGKILL did not end; last "cleanup CODE" if there is one, 0 for success
/// Returns this program's exit code.
int supervise(int argc, char** argv);

}  // namespace bench::external
