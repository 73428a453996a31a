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

  /// Becomes readable with each signal; drain() empties it.
  int fd() const;
  void drain() const;
  /// Signals so far. The second one means: at once.
  int count() const;
};

}  // namespace bench
