/* create() fails with a message that a terminal would act upon, with a second line that looks like a finding,
 * and with a byte that is no UTF-8. */
#define HOSTILE_CREATE                          \
  return hostile_fail(call, ENGINE_UNAVAILABLE, \
                      "red \033[31m\nok   process.exit: \xff \xc2\x9b end \xc3\xa9");
#include "hostile.h"
