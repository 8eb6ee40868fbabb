// enginehost-probe: the small program that runs code that may crash, hang or misreport, in the host's place.
#include <cstdio>
#include <string_view>

#include "host/load/helper/subcommands.hpp"

namespace {

struct Subcommand {
  std::string_view name;
  int (*run)(int argc, char** argv);  // argv[0] is the subcommand
};

constexpr Subcommand subcommands[] = {
    {"drivers", &enginehost::helper::ask_nvidia},
    {"probe", &enginehost::load::run_probe},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    for (const Subcommand& subcommand : subcommands)
      if (subcommand.name == argv[1]) return subcommand.run(argc - 1, argv + 1);
  std::fprintf(stderr, "enginehost-probe is started by EngineHost; its subcommands are:");
  for (const Subcommand& subcommand : subcommands)
    std::fprintf(stderr, " %.*s", static_cast<int>(subcommand.name.size()), subcommand.name.data());
  std::fputc('\n', stderr);
  return 2;
}
