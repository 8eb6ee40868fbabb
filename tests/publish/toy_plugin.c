/* A descriptor without an engine behind it, for publishers' commands, which read it and run nothing. */
#include <enginehost/engine_plugin.h>
#include <stdlib.h>

static const char* const capabilities[] = {"device.cpu", "format.toy", "versions.>=1.0,<9", NULL};

/* Needs the C library, as engines do. */
static void destroy(engine_instance* engine) { free(engine); }

const engine_plugin engine_plugin_v1 = {.magic = ENGINE_PLUGIN_MAGIC,
                                        .size = sizeof(engine_plugin),
                                        .abi_major = ENGINE_ABI_MAJOR,
                                        .abi_minor = ENGINE_ABI_MINOR,
                                        .engine = "toy",
                                        .version = "1.0.0",
                                        .build = "",
                                        .capabilities = capabilities,
                                        .destroy = destroy};
