/* create() fails with a message that has terminal control sequences, a second line that looks like a finding,
 * and a byte that is not UTF-8. */
#define HOSTILE_CREATE                          \
  return hostile_fail(call, ENGINE_UNAVAILABLE, \
                      "red \033[31m\nok   process.exit: \xff \xc2\x9b end \xc3\xa9");
#include "hostile.h"
