// Queries the package index for a file: PROJECT FILE SHA256 [NAMED-INDEX [FORBIDDEN-URL [ANSWERS-FOLDER]]];
// prints the URL or path and the facts of its requests, or the code and the evidence; and on standard error
// the most memory that it ever used, in KiB. A separate process, because each has an environment of its own.
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "host/transfer/package_index.hpp"

using namespace enginehost;

int main(int count, char** arguments) {
  if (count < 4) return 2;
  if (std::getenv("TEST_IGNORES_CHILDREN") != nullptr) std::signal(SIGCHLD, SIG_IGN);
  transfer::TransferOptions options;
  options.first_backoff = std::chrono::milliseconds(5);
  options.retries = 1;
  if (count > 4) options.package_index = arguments[4];
  if (count > 5)
    options.permit = [forbidden = std::string(arguments[5])](std::string_view url) -> Result<void> {
      if (!url.starts_with(forbidden)) return {};
      return fail(diagnose(Code::forbidden_by_policy).with(Key::what, "that host"));
    };
  if (count > 6) options.answers_folder = arguments[6];
  const auto found = transfer::locate_package(arguments[1], arguments[2], arguments[3], options);
  if (found) {
    std::printf("%s\n", found->url.empty() ? found->path.c_str() : found->url.c_str());
    for (const std::string& fact :
         {found->options->ca_bundle, found->options->client_certificate, found->options->proxy})
      std::printf("%s\n", fact.c_str());
  } else {
    std::printf("%s\n", found.error().code_text().data());
    for (const Evidence& fact : found.error().evidence)
      std::printf("%s=%s [%s]\n", fact.name().data(), fact.value.c_str(), fact.source.c_str());
  }
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__  // in bytes there
  usage.ru_maxrss /= 1024;
#endif
  std::fprintf(stderr, "%ld\n", static_cast<long>(usage.ru_maxrss));
  return found ? 0 : 3;
}
