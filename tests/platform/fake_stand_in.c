// A library with the mark of EngineHost's stand-ins, found under the real SONAMEs.
#include "engines/pytorch/stand_ins/stand_in.h"

int no_device(void);
int no_device(void) { return 100; }
