// Turns SIGINT, SIGTERM and SIGHUP into something poll() sees, for as long as the object lives.
// There is one at a time; SIGPIPE is ignored meanwhile, because a rank may die with our job line in
// its pipe.
#pragma once

namespace bench {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable from the first signal on: every lane that waits sees it.
  int fd() const;
  /// As if a signal had come.
  void raise() const;
  /// Signals so far. The second one means: at once.
  int count() const;
};

}  // namespace bench
