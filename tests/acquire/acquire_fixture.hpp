// Fixture of the acquire tests: a sample build, a server for its archives, a store of its own.
#pragma once
#include "host/acquire/acquire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/manifest/catalog.hpp"
#include "tests/acquire/sample_build.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::acquire {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::SampleBuild;
using testing::HasSubstr;

class AcquireTest : public testing::Test {
 protected:
  AcquireTest() {
    test::give_plugin(sample, folder / "repository");
    options.transfer.first_backoff = 5ms;
    options.transfer.stall_limit = 400ms;
    options.transfer.retries = 2;
  }
  // Serves the runtime's archive and names that server as its source.
  void offer(const std::string& archive, const std::string& kind = "zip") {
    bytes = archive;
    test::write_text(server.root() / "runtime", archive);
    sample.runtime().artifacts = {
        SampleBuild::artifact(archive, kind, {SampleBuild::url(server.url("runtime"))})};
  }
  manifest::Artifact& artifact() { return sample.runtime().artifacts.at(0); }
  Result<Acquired> get() { return acquire(*sample.build, store, options, progress, cancel); }
  std::string code() {
    const auto result = get();
    return result ? "ok" : std::string(result.error().code_text());
  }
  std::string problem() {
    const auto result = get();
    return result ? "ok"
                  : std::string(result.error().code_text()) + ": " +
                        std::string(result.error().value(Key::problem));
  }
  std::string installed_text(const std::string& path) {
    const auto found = store.find(sample.build->id);
    return found && *found ? test::read_text((*found)->folder / path_of(path)) : "";
  }
  void expect_nothing_visible() {
    EXPECT_FALSE(fs::exists(folder / "cache/views") && !fs::is_empty(folder / "cache/views"));
    EXPECT_TRUE(store.list().empty());
    const fs::path stage = folder / "cache/stage";
    for (const auto& key : fs::directory_iterator(stage)) EXPECT_TRUE(fs::is_empty(key.path())) << key.path();
  }

  test::TemporaryFolder folder;
  test::NginxServer server;
  SampleBuild sample;
  cache::Store store = cache::Store::open(folder / "cache", {}, "acquire_test");
  AcquireOptions options;
  transfer::ProgressCallback progress;
  std::optional<CancelToken> cancel;
  std::string bytes;
  const std::vector<test::ArchiveEntry> content{{"lib/libruntime.so.1",
                                                 "\x7f"
                                                 "ELF " +
                                                     test::noise(600'000)},
                                                {"lib/data.txt", std::string(50'000, 'x')},
                                                {"bin/tool", "#!/bin/sh\n", 0755}};
};

}  // namespace enginehost::acquire
