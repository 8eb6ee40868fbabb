// engine-cache sdk: an engine's headers and libraries as a folder for CMake.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/context/request.hpp"
#include "host/engine_sdk/engine_sdk.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"

namespace enginehost::commands {
namespace {

struct SdkFlags {
  std::string engine, folder;
};

void print_sdk(const engine_sdk::WrittenSdk& sdk) {
  const std::string folder = printable_line(path_text(sdk.folder));
  say("%s %s  %s  %s, %s  (of %s%s)\n", sdk.engine.c_str(), sdk.version.c_str(), folder.c_str(),
      pluralize(sdk.files, "file", "files").c_str(), format_bytes(sdk.size).c_str(), sdk.build.c_str(),
      sdk.was_there ? "; it was there already" : "");
  say("headers: %s\n", sdk.headers.c_str());
  say("use: cmake -DCMAKE_PREFIX_PATH=%s, and find_package(%s CONFIG REQUIRED)\n", shell_word(folder).c_str(),
      sdk.package.c_str());
}

Result<Json> make_sdk(const CacheRun& run, const SdkFlags& flags) {
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(resolve::Request request, request_of("engine-cache", {flags.engine, "", "", "", "--flavor"}));
  request.offline = run.settings.offline;
  TRY(run.store().check_place());
  prepare_to_write(run);
  transfer::ProgressBar bar(stderr, run.common.quiet, run.prints_text());
  const std::filesystem::path folder = given_path(flags.folder);
  TRY(refuse_foreign_links(folder, "engine-cache"));
  auto sdk = explain::mark_as_argument(
      engine_sdk::write_sdk(context, std::move(request), folder,
                            {consent_for(context, &bar, run.common.yes), bar.callback()}),
      folder);
  bar.clear();
  if (!sdk) return fail(std::move(sdk).error());
  if (run.prints_text()) print_sdk(*sdk);
  run.warn(context.warnings(), sdk->warnings);
  return Json::object()
      .set("format", 1)
      .set("engine", sdk->engine)
      .set("version", sdk->version)
      .set("build", sdk->build)
      .set("folder", path_text(sdk->folder))
      .set("package", sdk->package)
      .set("headers", sdk->headers)
      .set("files", sdk->files)
      .set("size", sdk->size)
      .set("downloaded", sdk->downloaded)
      .set("was_there", sdk->was_there)
      .set("warnings", open::warnings_document(context, sdk->warnings));
}

}  // namespace

std::vector<CacheSubcommand> add_sdk(CLI::App& app) {
  const auto flags = std::make_shared<SdkFlags>();
  CLI::App* sdk =
      app.add_subcommand("sdk", "write an engine's headers and libraries into a folder for CMake");
  sdk->add_option("ENGINE[@VERSION]", flags->engine,
                  "onnxruntime or pytorch; without a version the newest for this system")
      ->required();
  sdk->add_option("DIR", flags->folder, "the folder: absent, empty, or the same SDK")->required();
  return {{sdk, [flags](const CacheRun& run) { return make_sdk(run, *flags); }}};
}

}  // namespace enginehost::commands
