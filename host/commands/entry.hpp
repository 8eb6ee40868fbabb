// The programs' entry points. In portable builds they are in libenginehost.so, which all programs share, and
// the programs are main() and nothing else.
#pragma once

#ifdef _WIN32
#define ENGINEHOST_COMMAND_ENTRY extern "C"
#else
#define ENGINEHOST_COMMAND_ENTRY extern "C" [[gnu::visibility("default")]]
#endif

// Each runs one program and returns its status. The arguments are UTF-8 and end with a null pointer, as those
// of main().
ENGINEHOST_COMMAND_ENTRY int engine_command_info(int argc, char** argv);
ENGINEHOST_COMMAND_ENTRY int engine_command_cache(int argc, char** argv);
ENGINEHOST_COMMAND_ENTRY int engine_command_run(int argc, char** argv);
ENGINEHOST_COMMAND_ENTRY int engine_command_manifest(int argc, char** argv);

// Returns the status for main(), or ends the process here if it has loaded the code of an engine.
ENGINEHOST_COMMAND_ENTRY int engine_command_ended(int status);
