// engine-cache with the subcommands of publishers.
#include "tools/commands/engine_cache.hpp"

#include "host/commands/entry.hpp"
#include "host/commands/help.hpp"

int engine_command_cache(int argc, char** argv) {
  using namespace enginehost::commands;
  add_help_texts(
      {{"engine-cache push",
        {{"engine-cache push mxnet registry.example/engines:cpu", "send one build"},
         {"engine-cache push mxnet registry.example/engines --manifest mxnet.json",
          "also write the manifest that fetches it from there"}},
        "fleet.md"},
       {"engine-cache export",
        {{"engine-cache export engines.bundle onnxruntime mxnet", "two builds in one file"},
         {"engine-cache export engines.bundle pytorch --max-part 4000M", "in parts for a small medium"}},
        "admin.md"},
       {"engine-cache fulfil",
        {{"engine-cache fulfil lab.request", "write lab.bundle"},
         {"engine-cache fulfil lab.request --output answer.bundle", "write it under another name"}},
        "admin.md"}});
  return run_engine_cache(argc, argv, {add_push, add_export, add_fulfil});
}
