// The parts of `benchctl mlperf`; each has a file of its own here.
#pragma once

#include "runner/commands/command.h"
