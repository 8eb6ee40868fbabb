/* Has no engine_plugin_v1 of its own; the library it needs does, and dlsym finds that one. */
#include <enginehost/engine_plugin.h>

ENGINE_EXPORT const void* hostile_use(void);
const void* hostile_use(void) { return &engine_plugin_v1; }
