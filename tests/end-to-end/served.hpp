// A repository behind a real nginx, with one build in an archive large enough for interruptions and progress.
#pragma once
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::test {

// The build "reference-good": a zip with the reference plugin and a few megabytes that do not compress.
class Served {
 public:
  explicit Served(const std::string& directives = {}, std::size_t padding = 3u << 20)
      : server(directives), repository(server.root() / "repository") {
    repository.serve_from(server.url("repository/"));
    archive = zip_of({{plugin_name, reference_plugin()}, {"share/data.bin", noise(padding)}});
    digest = repository.store(archive);
  }

  // Writes the repository; `sources` replaces the correct one.
  void publish(Json sources = Json()) {
    if (sources.is_null()) sources = Json::array().push(repository.source_of(digest));
    Json artifact = Json::object()
                        .set("sha256", digest)
                        .set("size", archive.size())
                        .set("archive", "zip")
                        .set("sources", std::move(sources));
    repository.add_with_artifacts(good_build(), Json::array().push(std::move(artifact)));
    repository.write();
  }

  std::string location() const { return server.url("repository"); }
  std::string path() const { return "/repository/files/" + digest; }
  std::vector<std::string> arguments() const {
    return {"reference", "--repository", location(), "--allow-unsigned", "--json"};
  }

  // Installs the build for requests that name any repository or none.
  void install(const Workplace& workplace) const {
    const Ended fetched = workplace.run("engine-cache", {"fetch", "reference", "--allow-unsigned", "--keep",
                                                         "--repository", location(), "--json"});
    EXPECT_EQ(fetched.status, 0) << fetched.said();
  }

  NginxServer server;
  TestRepository repository;
  std::string archive, digest;
};

}  // namespace enginehost::test
