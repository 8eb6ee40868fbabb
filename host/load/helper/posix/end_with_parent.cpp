#include "host/load/helper/posix/end_with_parent.hpp"

#include <sys/prctl.h>

#include <csignal>

namespace enginehost::helper {

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace enginehost::helper
