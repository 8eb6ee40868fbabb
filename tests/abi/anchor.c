/* One pointer to, and the size of, every public type.  Tools that compare ABIs by debug information
 * cannot see through a query() that returns `const void *`; built with -g, this object shows them all types.
 */
#include <enginehost/engine_plugin.h>

#define ENGINE_STRUCT(type)                                \
  ENGINE_EXPORT extern const type* const anchor_##type;    \
  ENGINE_EXPORT extern const size_t anchor_size_of_##type; \
  const type* const anchor_##type = NULL;                  \
  const size_t anchor_size_of_##type = sizeof(type);
#define ENGINE_FIELD(type, name)
#define ENGINE_CONSTANT(name)
#include "layout/members.h"
