// Makes SIGINT, SIGTERM and SIGHUP visible to poll() during the object's lifetime. One instance at
// a time. SIGPIPE is ignored meanwhile, because a rank may die with a job line in its pipe.
#pragma once

namespace bench {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable from the first signal on, for every waiting lane.
  int fd() const;
  /// Acts like a received signal.
  void raise() const;
  /// Signals so far. The second one means: stop immediately.
  int count() const;
};

}  // namespace bench
