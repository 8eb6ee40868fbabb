// Installs one small build into the cache named on the command line: what the kill and fault tests run.
// Prints "installed" or the code of the diagnosis; exit status 0 or 3.
#include <cstdio>

#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const auto store = enginehost::cache::Store::open(arguments[1], {}, "install_child");
  const auto installed = enginehost::test::install_small_build(store, arguments[2]);
  std::puts(installed ? "installed" : installed.error().code.c_str());
  return installed ? 0 : 3;
}
