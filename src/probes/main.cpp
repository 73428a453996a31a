// bench-rank: one process a rank. It is started by benchctl through a launcher, reads jobs from
// stdin and answers on stdout; docs/architecture.md shows the conversation.
#include "probes/libraries.h"
#include "probes/rank_program.h"

int main(int argc, char** argv) {
  return bench::run_rank_program(
      {"bench-rank", bench::join_group, bench::make_host_device, bench::host_library_versions},
      argc, argv);
}
