// offline_child import BUNDLE CACHE | export BUNDLE CACHE BUILD: run by the tests with killed processes and
// failing disks. Prints "done" or the diagnosis' code; exit status 0 or 3.
#include <cstdio>
#include <cstring>

#include "host/offline/import_bundle.hpp"
#include "tools/offline/export_bundle.hpp"

using namespace enginehost;

namespace {

Result<void> run(int count, char** arguments) {
  if (std::strcmp(arguments[1], "import") == 0) {
    offline::ImportRequest request;
    request.file = arguments[2];
    const auto store = cache::Store::open(arguments[3], {}, "offline_child");
    return offline::import_bundle(store, request).map([](const auto&) {});
  }
  settings::Settings settings;
  settings.cache_folder = arguments[3];
  offline::ExportRequest request;
  request.file = arguments[2];
  request.largest_part = 100'000;
  for (int i = 4; i < count; ++i) request.selection.builds.push_back(arguments[i]);
  return offline::export_bundle(open::OpenContext(settings), request).map([](const auto&) {});
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto done = run(count, arguments);
  std::puts(done ? "done" : done.error().code_text().data());
  return done ? 0 : 3;
}
