#include "results/run/conclusion.h"

namespace bench {

void Conclusion::add(Verdict verdict) {
  if (verdict == Verdict::pass)
    ++passed;
  else if (verdict == Verdict::fail)
    ++failed;
  else
    ++unjudged;
}

Verdict Conclusion::verdict() const {
  if (failed > 0) return Verdict::fail;
  return unjudged > 0 || passed == 0 ? Verdict::inconclusive : Verdict::pass;
}

ExitCode Conclusion::exit_code() const {
  if (interrupted) return ExitCode::interrupted;
  if (verdict() == Verdict::fail) return ExitCode::failed;
  if (verdict() == Verdict::inconclusive) return ExitCode::not_measured;
  return indexed ? ExitCode::ok : ExitCode::environment;
}

}  // namespace bench
