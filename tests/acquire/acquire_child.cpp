// Installs the one build of a manifest document; run by the tests with many, killed and traced processes.
// acquire_child MANIFEST REPOSITORY CACHE [offline|in-parts]; prints "installed BYTES-DOWNLOADED" or the
// diagnosis' code, and on stderr the file and the folder of the diagnosis.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "base/files.hpp"
#include "host/acquire/acquire.hpp"

using namespace enginehost;

namespace {

Result<acquire::Acquired> run(char** arguments, const std::string& how) {
  TRY_ASSIGN(const std::string text, read_file(arguments[1]));
  TRY_ASSIGN(const Json document, parse_json(text, arguments[1]));
  TRY_ASSIGN(const auto manifest, manifest::read_manifest(document, arguments[2], arguments[1]));
  acquire::AcquireOptions options;
  options.transfer.offline = how == "offline";
  options.transfer.first_backoff = std::chrono::milliseconds(20);
  if (how == "in-parts") {  // several connections early, for a small file
    options.transfer.rate_window = std::chrono::milliseconds(100);
    options.transfer.smallest_part = 1u << 20;
  }
  const auto store = cache::Store::open(arguments[3], {}, "acquire_child");
  return acquire::acquire(*manifest->builds.at(0), store, options);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto acquired = run(arguments, count > 4 ? arguments[4] : "");
  if (acquired)
    std::printf("installed %" PRIu64 "\n", acquired->downloaded);
  else
    std::printf("%s\n", acquired.error().code_text().data());
  // Evidence that the remedies use.
  for (const Key key : {Key::file, Key::folder})
    if (!acquired && !acquired.error().value(key).empty())
      std::fprintf(stderr, "%s %s\n", text_of(key).data(), std::string(acquired.error().value(key)).c_str());
  return acquired ? 0 : 3;
}
