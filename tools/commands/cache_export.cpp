// engine-cache export: writes installed builds into one file, or its parts, or as an OCI image layout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "tools/commands/engine_cache.hpp"
#include "tools/oci/artifact.hpp"
#include "tools/offline/export_bundle.hpp"

namespace enginehost::commands {
namespace {

constexpr std::uint64_t smallest_part = 1u << 20;

struct ExportFlags {
  std::string file, base;
  std::vector<std::string> builds;
  bool oci = false;
  WritingFlags writing;
};

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

Result<Json> export_bundle(const CacheRun& run, const ExportFlags& flags) {
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY(context.store().check_readable());
  offline::ExportRequest request;
  request.file = given_path(flags.file);
  std::error_code error;
  if (std::filesystem::is_directory(request.file, error))
    return fail(explain::mark_as_argument(
        diagnose_errno(Code::folder_not_writable, EISDIR).with(Key::file, path_text(request.file))));
  TRY_ASSIGN(request.selection.builds, installed_builds(context.store(), flags.builds));
  request.selection.licenses_by_order.insert(flags.writing.redistribute.begin(),
                                             flags.writing.redistribute.end());
  TRY_ASSIGN(request.largest_part, given_size("--max-part", flags.writing.max_part));
  if (!flags.base.empty()) {
    const std::filesystem::path base = given_path(flags.base);
    if (bundle_of(base) == bundle_of(request.file))
      return fail(wrong_usage("engine-cache", "--base " + flags.base + " is the bundle that " + flags.file +
                                                  " would replace: write the new one under another name"));
    TRY(offline::leave_out(request.selection, base));
  }
  transfer::ProgressBar bar(stderr, run.common.quiet, run.prints_text());
  request.progress = bar_for(bar, path_text(request.file));
  TRY_ASSIGN(const offline::Exported exported,
             explain::mark_as_argument(offline::export_bundle(context, request), request.file));
  bar.clear();
  note_export(context, exported, request.file);
  run.warn(context.warnings());
  run.warn(exported.warnings);
  Json document = reported(exported, request.file, run.prints_text());
  return std::move(document.set("format", 1));
}

Result<Json> export_oci(const CacheRun& run, const ExportFlags& flags) {
  const cache::Store store = run.store();
  TRY(store.check_readable());
  const std::filesystem::path folder = given_path(flags.file);
  TRY_ASSIGN(const std::vector<std::string> ids, installed_builds(store, flags.builds));
  for (const std::string& id : ids) {
    TRY_ASSIGN(const auto installed, store.record_of(id));
    if (!installed) return fail(store.not_installed(id));
  }
  TRY_ASSIGN(const std::filesystem::path packing, explain::mark_as_argument(oci::begin_layout(folder)));
  std::vector<oci::Artifact> artifacts;
  std::vector<cache::Lease> leases;
  for (const std::string& id : ids) {
    TRY_ASSIGN(const auto installed, store.record_of(id));
    if (!installed) return fail(store.not_installed(id));  // removed meanwhile
    TRY_ASSIGN(cache::Lease lease, store.lease(*installed));
    leases.push_back(std::move(lease));
    oci::ArtifactRequest request;
    TRY_ASSIGN(request.folder, explain::mark_as_argument(make_private_folder(packing, "pack-")));
    request.redistribute.insert(flags.writing.redistribute.begin(), flags.writing.redistribute.end());
    TRY_ASSIGN(oci::Artifact artifact,
               explain::mark_as_argument(oci::make_artifact(*installed, request, run.cancel), folder));
    artifacts.push_back(std::move(artifact));
  }
  TRY(explain::mark_as_argument(oci::write_layout(folder, artifacts, "all")));
  open::OpenContext context(run.settings, {}, run.cancel);
  context.note("export", Json::object()
                             .set("builds", Json::strings(ids))
                             .set("folder", path_text(folder))
                             .set("redistribute", Json::strings(flags.writing.redistribute)));
  run.warn(context.warnings());
  Json builds = Json::array();
  for (const oci::Artifact& artifact : artifacts) {
    std::uint64_t size = 0;
    for (const oci::Blob& layer : artifact.layers) size += layer.descriptor.size;
    const std::string tag = oci::tag_of(artifact.build),
                      digest = "sha256:" + artifact.manifest.descriptor.digest;
    builds.push(
        Json::object().set("build", artifact.build).set("tag", tag).set("digest", digest).set("size", size));
    if (run.prints_text())
      say("%s  oci:%s:%s  %s  %s\n", artifact.build.c_str(), path_text(folder).c_str(), tag.c_str(),
          format_bytes(size).c_str(), digest.c_str());
  }
  return Json::object().set("format", 1).set("layout", path_text(folder)).set("exported", std::move(builds));
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
      .set("warnings", Json::strings(exported.warnings))
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

Result<std::vector<std::string>> installed_builds(const cache::Store& store,
                                                  const std::vector<std::string>& given) {
  std::vector<std::string> ids;
  for (const std::string& one : given) {
    TRY_ASSIGN(std::string id, installed_build(store, one));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

Result<std::uint64_t> given_size(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  const auto number = parse_integer(std::string_view(text).substr(0, text.size() - (shift != 0 ? 1 : 0)));
  if (number && *number > 0 && *number < (std::int64_t{1} << 40) >> shift) {
    const std::uint64_t size = static_cast<std::uint64_t>(*number) << shift;
    if (size >= smallest_part) return size;
    return fail(wrong_usage("engine-cache", option + " " + text +
                                                " is too small: parts have at least 1M, because each is "
                                                "a file that somebody carries"));
  }
  return fail(wrong_usage("engine-cache", option + " " + text + " is no size like 650M or 4G"));
}

CLI::Option* add_writing_flags(CLI::App& app, WritingFlags& flags) {
  CLI::Option* part =
      app.add_option("--max-part", flags.max_part, "split into parts of at most this size: 650M, 4G")
          ->type_name("N");
  repeatable(app.add_option("--redistribute", flags.redistribute,
                            "include components under this license, which does not let everyone pass "
                            "them on; repeatable"))
      ->type_name("ID");
  return part;
}

std::vector<CacheSubcommand> add_export(CLI::App& app) {
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App* exporting = app.add_subcommand("export", "write installed builds into one file");
  exporting->add_option("FILE", flags->file, "the bundle to write; with --oci a folder")->required();
  exporting->add_option("ID", flags->builds, build_id_meaning)->required();
  CLI::Option* base =
      exporting->add_option("--base", flags->base, "leave out what this earlier bundle brings")
          ->type_name("FILE");
  CLI::Option* oci =
      exporting->add_flag("--oci", flags->oci, "write an OCI image layout, for tools of registries");
  oci->excludes(base);
  oci->excludes(add_writing_flags(*exporting, flags->writing));
  return {{exporting, [flags](const CacheRun& run) {
             return flags->oci ? export_oci(run, *flags) : export_bundle(run, *flags);
           }}};
}

}  // namespace enginehost::commands
