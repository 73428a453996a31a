// The processors that this process may run on.
#pragma once

namespace bench::training {

/// By its affinity, of which a launcher or a binding makes a part of the host; 1 to `most`.
int usable_cpus(int most);

}  // namespace bench::training
