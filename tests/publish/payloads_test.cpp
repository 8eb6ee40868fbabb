// Compares the payloads on the package index with manifests/facts. Downloads all of them, about 12 GB, one
// after the other. With ENGINEHOST_KEEP_FACTS set, writes the facts into manifests/facts instead; with
// ENGINEHOST_ONLY, examines only the components whose name contains that text.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/sha256.hpp"
#include "host/transfer/package_index.hpp"
#include "tests/publish/shipped.hpp"

namespace enginehost::publish {
namespace {

class FileSink : public transfer::Sink {
 public:
  explicit FileSink(const shipped::fs::path& file) : file_(file, std::ios::binary | std::ios::trunc) {}
  std::uint64_t held() const override { return written_; }
  Result<void> start(std::uint64_t offset) override {
    written_ = offset;
    file_.seekp(static_cast<std::streamoff>(offset));
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written_ += bytes.size();
    return {};
  }
  void close() { file_.close(); }

 private:
  std::ofstream file_;
  std::uint64_t written_ = 0;
};

Result<void> fetch(const manifest::Artifact& artifact, const shipped::fs::path& file) {
  const manifest::Source& source = *shipped::in_the_index(artifact);
  transfer::TransferOptions options;
  TRY_ASSIGN(const transfer::Place found,
             transfer::locate_package(source.project, source.file, artifact.sha256, options));
  FileSink sink(file);
  if (found.url.empty()) {
    TRY(transfer::fetch_file(found.path, artifact.size, sink).map([](const auto&) {}));
  } else {
    transfer::UrlRequest request;
    request.url = found.url;
    request.expected_size = artifact.size;
    TRY(transfer::fetch_url(request, sink, *found.options).map([](const auto&) {}));
  }
  sink.close();
  return {};
}

// Text that facts of the first format contain.
void forget_paths(ArtifactFacts& facts) {
  facts.reports_paths = false;
  facts.links.clear();
  for (LibraryFacts& one : facts.libraries) {
    one.rpath.reset();
    one.runpath.reset();
    one.dependent_load_flags = 0;
  }
}

TEST(Payloads, MatchTheManifestsAndTheFacts) {
  const bool keep = std::getenv("ENGINEHOST_KEEP_FACTS") != nullptr;
  const char* only = std::getenv("ENGINEHOST_ONLY");
  test::TemporaryFolder folder;
  auto workspace = shipped::workspace_in(folder / "repository");
  ASSERT_TRUE(workspace);
  std::map<std::string, std::string> done;  // by archive key: two engines may share a component
  for (const auto& manifest : shipped::manifests(*workspace))
    for (const auto& [id, component] : manifest->components) {
      if (only != nullptr && id.find(only) == std::string::npos) continue;
      for (const manifest::Artifact& artifact : component.artifacts) {
        if (shipped::in_the_index(artifact) == nullptr) continue;
        SCOPED_TRACE(id);
        const auto known = workspace->facts_of(artifact);
        // Facts of an earlier version are made again, because they hold less.
        if (known && ((keep && known->reports_paths) || !done.emplace(known->unpacked_as, id).second))
          continue;
        const shipped::fs::path archive = folder / "archive";
        const auto fetched = fetch(artifact, archive);
        const std::string code = fetched ? "" : std::string(fetched.error().code_text());
        if (code == "EH-N01" || code == "EH-N02" || code == "EH-N03" || code == "EH-N12" || code == "EH-N18")
          GTEST_SKIP() << "skipped: no package index can be asked here";
        if (!fetched) {
          ADD_FAILURE() << fetched.error().code << " " << fetched.error().value(Key::problem);
          continue;
        }
        EXPECT_EQ(*sha256_of_file(archive), artifact.sha256);
        EXPECT_EQ(shipped::fs::file_size(archive), artifact.size.value_or(0))
            << "the size that the manifest gives";
        auto facts = look_into(artifact, archive, folder / "scratch");
        shipped::fs::remove(archive);
        ASSERT_TRUE(facts) << facts.error().code;
        std::cout << id << ": " << facts->libraries.size() << " libraries\n" << std::flush;
        if (keep) {
          ASSERT_TRUE(workspace->keep_facts(artifact, *facts));
          shipped::fs::copy(
              workspace->folder() / "facts", shipped::facts(),
              shipped::fs::copy_options::recursive | shipped::fs::copy_options::overwrite_existing);
        } else if (known) {
          if (!known->reports_paths) forget_paths(*facts);
          facts->file = known->file;
          facts->sha256 = known->sha256;
          facts->by_ranges = known->by_ranges;
          EXPECT_EQ(to_json(*facts).dump(), to_json(*known).dump());
        } else {
          ADD_FAILURE() << "nobody wrote down what its libraries say; run with ENGINEHOST_KEEP_FACTS=1";
        }
      }
    }
}

}  // namespace
}  // namespace enginehost::publish
