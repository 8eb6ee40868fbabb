// engine-cache export: writes installed builds into one file, or its parts.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/paths.hpp"
#include "base/pluralize.hpp"
#include "base/text.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/cache_export.hpp"
#include "host/commands/cache_export_oci.hpp"
#include "host/commands/offline.hpp"
#include "host/commands/request_args.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

// Returns the name that a bundle's parts and their list begin with, links resolved. A bundle in one file
// replaces an earlier one in parts, and the other way round.
std::filesystem::path bundle_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
  std::filesystem::path bundle = error ? file : real;
  const std::string ending = path_text(bundle.extension());
  const bool number = ending.size() == 4 && ending.find_first_not_of("0123456789", 1) == std::string::npos;
  if (ending == ".parts" || number) bundle.replace_extension();
  return bundle;
}

}  // namespace

Json reported(const offline::Exported& exported, const std::filesystem::path& file, bool as_text) {
  Json builds = Json::array(), parts = Json::array();
  for (const offline::BundledBuild& build : exported.list.builds) {
    builds.push(build.id);
    if (as_text) say("%s\n", build.id.c_str());
  }
  for (const offline::WrittenPart& part : exported.parts) {
    const std::string where = path_text(file.parent_path() / path_of(part.name));
    parts.push(Json::object().set("file", where).set("size", part.size).set("sha256", part.sha256));
    if (as_text)
      say("%s  %s  sha256 %s\n", where.c_str(), format_bytes(part.size).c_str(), part.sha256.c_str());
  }
  std::uint64_t left_out = 0;
  for (const offline::Blob& blob : exported.list.needs) left_out += blob.size;
  if (as_text && left_out != 0)
    say("left out, because the other side has them: %s, %s\n",
        pluralize(exported.list.needs.size(), "file", "files").c_str(), format_bytes(left_out).c_str());
  for (const offline::BundledLicense& license : exported.list.licenses)
    if (as_text && license.by_order) say("included by --redistribute: %s\n", license.id.c_str());
  return Json::object()
      .set("builds", std::move(builds))
      .set("parts", std::move(parts))
      .set("size", exported.size)
      .set("left_out", Json::object()
                           .set("files", static_cast<std::uint64_t>(exported.list.needs.size()))
                           .set("bytes", left_out));
}

void note_export(open::OpenContext& context, const offline::Exported& exported,
                 const std::filesystem::path& file) {
  Json builds = Json::array(), files = Json::array(), licenses = Json::array();
  for (const offline::BundledBuild& build : exported.list.builds) builds.push(build.id);
  for (const offline::WrittenPart& part : exported.parts)
    files.push(Json::object().set("file", part.name).set("sha256", part.sha256));
  for (const offline::BundledLicense& license : exported.list.licenses)
    if (license.by_order) licenses.push(license.id);
  Json facts = Json::object();
  facts.set("builds", std::move(builds))
      .set("folder", path_text(file.parent_path()))
      .set("files", std::move(files))
      .set("redistribute", std::move(licenses));
  context.note("export", facts);
}

Result<Json> export_command(const OfflineRun& run) {
  if (run.flags.oci) return export_oci(run);
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY(context.store().check_readable());
  offline::ExportRequest request;
  request.file = given_path(run.flags.file);
  std::error_code error;
  if (std::filesystem::is_directory(request.file, error))
    return fail(
        explain::mark_as_argument(diagnose_errno("EH-F16", EISDIR).with("file", path_text(request.file))));
  TRY_ASSIGN(request.selection.builds, installed_builds(context.store(), run.flags.builds));
  request.selection.licenses_by_order.insert(run.flags.redistribute.begin(), run.flags.redistribute.end());
  TRY_ASSIGN(request.largest_part, given_size("--max-part", run.flags.max_part));
  if (!run.flags.base.empty()) {
    const std::filesystem::path base = given_path(run.flags.base);
    if (bundle_of(base) == bundle_of(request.file))
      return fail(wrong_usage("engine-cache", "--base " + run.flags.base + " is the bundle that " +
                                                  run.flags.file +
                                                  " would replace: write the new one under another name"));
    TRY(offline::leave_out(request.selection, base));
  }
  transfer::ProgressBar bar(stderr, run.common.quiet, !run.common.json);
  request.progress = bar_for(bar, path_text(request.file));
  TRY_ASSIGN(const offline::Exported exported,
             explain::mark_as_argument(offline::export_bundle(context, request), request.file));
  bar.clear();
  note_export(context, exported, request.file);
  print_warnings(context.warnings(), {}, run.common.quiet || run.common.json);
  Json document = reported(exported, request.file, !run.common.json);
  return std::move(document.set("format", 1));
}

}  // namespace enginehost::commands
