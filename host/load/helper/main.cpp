// enginehost-probe: the small program that runs code that may crash, hang or misreport, in the host's place.
#include <cstdio>
#include <string_view>

#include "host/load/helper/subcommands.hpp"

int main(int argc, char** argv) {
  const std::string_view subcommand = argc > 1 ? argv[1] : "";
  if (subcommand == "drivers") return enginehost::helper::ask_nvidia(argc - 1, argv + 1);
  if (subcommand == "probe") return enginehost::load::run_probe();
  std::fprintf(stderr, "enginehost-probe is started by EngineHost; its subcommands are: drivers probe\n");
  return 2;
}
