// What a command tells a person. Everything goes through printable(): names, licenses and reasons come from
// strangers' manifests, and none of them moves the cursor or paints over what was said. Documents (--json) do
// not go this way.
#pragma once

// Whose words printf understands: GCC takes the plain name for Microsoft's library, which MinGW does not use.
#if defined(__MINGW32__) && !defined(__clang__)
#define ENGINEHOST_SAYS_AS_PRINTF [[gnu::format(gnu_printf, 1, 2)]]
#elif defined(__GNUC__)
#define ENGINEHOST_SAYS_AS_PRINTF [[gnu::format(printf, 1, 2)]]
#else
#define ENGINEHOST_SAYS_AS_PRINTF
#endif

namespace enginehost::commands {

// As printf: on standard output.
ENGINEHOST_SAYS_AS_PRINTF void say(const char* format, ...);

// On standard error.
ENGINEHOST_SAYS_AS_PRINTF void say_aside(const char* format, ...);

}  // namespace enginehost::commands
