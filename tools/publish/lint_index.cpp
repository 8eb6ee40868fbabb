#include "tools/publish/lint.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::publish {

void as_its_index_says(const Workspace& workspace, const std::string& name, const std::string& text,
                       LintFindings& findings) {
  const auto index = workspace.index();
  if (!index || !*index) return;
  for (const manifest::IndexEntry& entry : (*index)->manifests) {
    if (path_text(workspace.folder() / path_of(entry.path)) != name) continue;
    const std::string digest = sha256_hex(text);
    if (digest != entry.sha256)
      findings.errors.push_back(diagnose(Code::manifest_differs_from_index)
                                    .with(Key::document, name)
                                    .with(Key::expected, entry.sha256, "index.json")
                                    .with(Key::found, digest, "document")
                                    .with(Key::remedy, "correct its \"sha256\" and \"size\" in index.json"));
    else if (entry.size != 0 && entry.size != text.size())
      findings.errors.push_back(diagnose(Code::manifest_fails_for_users)
                                    .with(Key::document, "index.json")
                                    .with(Key::problem, "it says that " + name + " has " +
                                                            pluralize(entry.size, "byte", "bytes") +
                                                            ", and it has " + std::to_string(text.size()))
                                    .with(Key::remedy, "correct \"size\""));
  }
}

void vendor_facts_as_the_index_says(const Workspace& workspace, LintFindings& findings) {
  const auto index = workspace.index();
  if (!index || !*index || !(*index)->vendor_facts) return;
  const manifest::IndexEntry& entry = *(*index)->vendor_facts;
  const std::filesystem::path file = workspace.folder() / path_of(entry.path);
  const auto bytes = read_file(file, vendor::largest_document + 1);
  if (!bytes) return findings.errors.push_back(bytes.error());
  if (const std::string digest = sha256_hex(*bytes); digest != entry.sha256)
    return findings.errors.push_back(
        diagnose(Code::manifest_differs_from_index)
            .with(Key::document, path_text(file))
            .with(Key::expected, entry.sha256, "index.json")
            .with(Key::found, digest, "document")
            .with(Key::remedy, "correct its \"sha256\" and \"size\" in index.json"));
  if (const auto facts = vendor::read_facts(*bytes, path_text(file), &vendor::built_in()); !facts)
    findings.errors.push_back(facts.error());
}

void as_its_path_says(const Workspace& workspace, const std::string& name, const std::string& engine,
                      LintFindings& findings) {
  const auto index = workspace.index();
  if (!index || !*index) return;
  for (const manifest::IndexEntry& entry : (*index)->manifests)
    if (path_text(workspace.folder() / path_of(entry.path)) == name && !entry.engine.empty() &&
        entry.engine != engine)
      findings.errors.push_back(
          diagnose(Code::manifest_fails_for_users)
              .with(Key::document, "index.json")
              .with(Key::problem, "the path " + entry.path + " names the engine " + entry.engine +
                                      ", and the manifest is one of " + engine)
              .with(Key::remedy, "rename the file to " + manifest::path_of_manifest(engine, entry.sha256) +
                                     ", and correct \"path\""));
}

}  // namespace enginehost::publish
