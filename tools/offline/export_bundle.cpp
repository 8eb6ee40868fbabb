#include "tools/offline/export_bundle.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/offline/bundle_reader.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

class Exporting {
 public:
  Exporting(const open::OpenContext& context, const ExportRequest& request, BundleWriter& writer,
            const Contents& contents)
      : context_(context), request_(request), writer_(writer) {
    total_ = contents.list.size();
  }

  Result<void> document(std::string_view name, const std::string& bytes) {
    TRY(writer_.begin_entry(name, bytes.size()));
    TRY(writer_.write(bytes));
    return writer_.end_entry();
  }

  Result<void> file(const Blob& blob, const fs::path& from) {
    const auto damaged = [&](Code code, std::string_view found) {
      return fail(diagnose(code)
                      .with(Key::file, path_text(from))
                      .with(Key::expected, blob.sha256)
                      .with(Key::needed_size, std::to_string(blob.size))
                      .with(code == Code::file_truncated ? Key::size : Key::found, found));
    };
    const FileDescriptor opened(calls::open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!opened.valid())
      return fail(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(from)));
    TRY(writer_.begin_entry(std::string(blob_folder) + blob.sha256, blob.size));
    Sha256 digest;
    std::uint64_t done = 0;
    for (;;) {
      const ssize_t got = calls::read(opened.get(), buffer_.data(), buffer_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        return fail(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(from)));
      if (got == 0) break;
      const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
      done += bytes.size();
      if (done > blob.size) return damaged(Code::file_damaged, "more bytes");
      digest.update(bytes);
      TRY(writer_.write(bytes));
      TRY(report(bytes.size()));
    }
    if (done < blob.size) return damaged(Code::file_truncated, std::to_string(done));
    if (const std::string actual = digest.hex(); actual != blob.sha256)
      return damaged(Code::file_damaged, actual);
    return writer_.end_entry();
  }

 private:
  Result<void> report(std::uint64_t more) {
    done_ += more;
    if (context_.cancel() && context_.cancel()->canceled())
      return fail(diagnose(Code::canceled).with(Key::file, path_text(request_.file)));
    if (request_.progress) request_.progress(done_, total_);
    return {};
  }

  const open::OpenContext& context_;
  const ExportRequest& request_;
  BundleWriter& writer_;
  std::vector<char> buffer_ = std::vector<char>(1u << 18);
  std::uint64_t done_ = 0, total_ = 0;
};

Json json_of(const std::vector<Blob>& blobs) {
  Json list = Json::array();
  for (const Blob& blob : blobs) list.push(Json::object().set("sha256", blob.sha256).set("size", blob.size));
  return list;
}

// Leases keep the builds from being removed while they are read.
Result<std::vector<cache::Lease>> leases_of(const cache::Store& store,
                                            const std::vector<std::string>& names) {
  std::vector<cache::Lease> leases;
  for (const std::string& name : names) {
    TRY_ASSIGN(const auto installed, store.record_of(name));
    if (!installed) return fail(store.not_installed(name));
    TRY_ASSIGN(cache::Lease lease, store.lease(*installed));
    leases.push_back(std::move(lease));
  }
  return leases;
}

}  // namespace

std::string text_of(const BundleList& list) {
  Json built = Json::array(), kept = Json::array(), licensed = Json::array();
  for (const BundledBuild& build : list.builds) {
    Json components = Json::object();
    for (const auto& [component, tree] : build.trees) components.set(component, tree);
    built.push(Json::object()
                   .set("id", build.id)
                   .set("engine", build.engine)
                   .set("version", build.version)
                   .set("flavor", build.flavor)
                   .set("os", build.os)
                   .set("arch", build.arch)
                   .set("manifest", build.manifest)
                   .set("trees", std::move(components)));
  }
  for (const BundledRepository& repository : list.repositories) {
    Json listed = Json::array();
    for (const RepositoryDocument& document : repository.documents)
      listed.push(Json::object().set("path", document.path).set("sha256", document.sha256));
    kept.push(Json::object().set("name", repository.name).set("documents", std::move(listed)));
  }
  for (const BundledLicense& license : list.licenses) {
    Json entry = Json::object().set("id", license.id);
    if (!license.url.empty()) entry.set("url", license.url);
    if (!license.sha256.empty()) entry.set("sha256", license.sha256);
    if (!license.redistribute.empty()) entry.set("redistribute", license.redistribute);
    licensed.push(std::move(entry.set("text", license.text)
                                .set("by_order", license.by_order)
                                .set("components", Json::strings(license.components))));
  }
  Json document = Json::object();
  document.set("format", 1)
      .set("kind", list_kind)
      .set("builds", std::move(built))
      .set("repositories", std::move(kept))
      .set("licenses", std::move(licensed));
  if (list.base)
    document.set("base", Json::object()
                             .set("name", list.base->name)
                             .set("list", list.base->list)
                             .set("builds", Json::strings(list.base->builds)));
  document.set("spdx", Json::object().set("sha256", list.spdx.sha256).set("size", list.spdx.size))
      .set("documents", json_of(list.documents))
      .set("files", json_of(list.files))
      .set("needs", json_of(list.needs));
  return document.dump(1) + "\n";
}

Result<Exported> export_bundle(const open::OpenContext& context, const ExportRequest& request) {
  TRY_ASSIGN(Contents contents, gather(context, request.selection));
  TRY_ASSIGN(const auto leases, leases_of(context.store(), contents.names));
  const std::string list = text_of(contents.list);
  TRY_ASSIGN(const auto writer, BundleWriter::create(request.file, request.largest_part));
  Exporting exporting(context, request, *writer, contents);
  TRY(exporting.document(list_entry, list));
  TRY(exporting.document(spdx_entry, contents.spdx));
  for (const auto& [digest, bytes] : contents.documents)
    TRY(exporting.document(std::string(blob_folder) + digest, bytes));
  for (const Blob& blob : contents.list.files) TRY(exporting.file(blob, contents.files.at(blob.sha256)));
  Exported exported;
  exported.list_digest = sha256_hex(list);
  TRY_ASSIGN(exported.parts, writer->finish(exported.list_digest));
  for (const WrittenPart& part : exported.parts) exported.size += part.size;
  exported.list = std::move(contents.list);
  exported.warnings = std::move(contents.warnings);
  return exported;
}

Result<ListOfBundle> list_of_bundle(const fs::path& file) {
  TRY_ASSIGN(const auto reader, BundleReader::open(file));
  TRY_ASSIGN(const auto entry, reader->next());
  if (!entry || entry->name != list_entry || entry->size > largest_list)
    return fail(reader->damaged("it does not begin with its list"));
  TRY_ASSIGN(const std::string text, reader->read_whole());
  TRY_ASSIGN(BundleList list, read_bundle_list(text, path_text(file)));
  return ListOfBundle{std::move(list), sha256_hex(text)};
}

Result<void> leave_out(Selection& selection, const fs::path& base) {
  TRY_ASSIGN(const ListOfBundle earlier, list_of_bundle(base));
  selection.base = BundleBase{path_text(base.filename()), earlier.digest, {}};
  for (const BundledBuild& build : earlier.list.builds) selection.base->builds.push_back(build.id);
  for (const auto* blobs : {&earlier.list.files, &earlier.list.needs})
    for (const Blob& blob : *blobs) selection.held.insert(blob.sha256);
  return {};
}

}  // namespace enginehost::offline
