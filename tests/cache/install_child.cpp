// Runs one operation on the cache named on the command line, for the kill and fault tests.
//   cache_install_child ROOT BUILD          installs a small build
//   cache_install_child ROOT BUILD repair   repairs it; the only source of files is this program
//   cache_install_child ROOT BUILD gc       collects everything that was not used for a day
//   cache_install_child ROOT BUILD hold     takes the build's lock and keeps it
// Prints the operation or the code of the diagnosis; exit status 0 or 3.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"

namespace {

using namespace enginehost;

Result<const char*> run(const cache::Store& store, std::string_view build, std::string_view what) {
  if (what == "gc") {
    cache::CollectOptions options;
    options.max_age = std::chrono::hours(24);
    TRY_ASSIGN(cache::Collected collected, store.collect(options));
    // A build that cannot be removed is reported and keeps none of the others.
    if (!collected.stayed.empty()) return fail(std::move(collected.stayed.front()));
    return "collected";
  }
  if (what == "repair") {
    TRY_ASSIGN(cache::Stage stage, store.stage(cache::Store::key_of(build)));
    TRY_ASSIGN(const cache::Repaired repaired, store.repair(build, stage, test::bring_small_files));
    return repaired.left.empty() ? "repaired" : "left";
  }
  if (what == "hold") {
    TRY_ASSIGN(const cache::Stage stage, store.stage(cache::Store::key_of(build)));
    std::puts("held");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  TRY(test::install_small_build(store, std::string(build)).map([](const auto&) {}));
  return "installed";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 4) return 2;
  const auto store = cache::Store::open(arguments[1], {}, "install_child");
  const auto done = run(store, arguments[2], count > 3 ? arguments[3] : "install");
  std::puts(done ? *done : done.error().code_text().data());
  if (!done)
    for (const auto& one : done.error().evidence)
      std::fprintf(stderr, "%s: %s\n", one.name().data(), one.value.c_str());
  return done ? 0 : 3;
}
