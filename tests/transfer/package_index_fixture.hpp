// The package index of a configuration in a folder of the test. Python is a script that prints what Python
// and pip print.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/sha256.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::transfer {
namespace fs = std::filesystem;

inline const std::string file_name = "sample_engine-1.0-py3-none-manylinux_2_17_x86_64.whl";

class PackageIndexTest : public testing::Test {
 protected:
  PackageIndexTest() { ignore_files(); }

  // A Python with a pip whose default index is `fallback`. It notes each start in `asked`.
  void make_pip(const std::string& fallback) {
    const std::string script = "#!/bin/sh\necho $1 >> " + (folder / "asked").native() +
                               "\n[ \"$1\" = -c ] || exit 1\necho " + (folder / "prefix").native() +
                               "\necho " + (folder / "pip/__init__.py").native() +
                               "\n/bin/cat <<'EOF'\n\nPackage Index Options:\n"
                               "  -i, --index-url <url>  Base URL of the Python Package Index (default " +
                               fallback + "). This should point to a repository\nEOF\n";
    test::write_text(folder / "bin/python3", script);
    ::chmod((folder / "bin/python3").c_str(), 0755);
    test::write_text(folder / "pip/__init__.py", "");
  }
  void make_program(const std::string& name, const std::string& script) {
    test::write_text(folder / "bin" / name, "#!/bin/sh\n" + script + "\n");
    ::chmod((folder / "bin" / name).c_str(), 0755);
  }
  int times_asked() const {
    const std::string text = fs::exists(folder / "asked") ? test::read_text(folder / "asked") : "";
    return static_cast<int>(std::ranges::count(text, '\n'));
  }
  // The machine's own files of pip do not count until obey_files(): only PIP_… variables do.
  void ignore_files() { set("PIP_CONFIG_FILE", "/dev/null"); }
  void obey_files() { variables.erase("PIP_CONFIG_FILE"); }
  void set(const std::string& name, const std::string& value) { variables[name] = value; }
  void write_user_file(const std::string& text) {
    obey_files();
    test::write_text(folder / "home/.config/pip/pip.conf", text);
  }
  std::string ask(std::vector<std::string> extra = {}, const std::string& project = "Sample_Engine") {
    ChildRequest request;
    request.argv = {test::build_path("/tests/package_index_child"), project, file_name, digest};
    request.argv.insert(request.argv.end(), extra.begin(), extra.end());
    // Removed, then set: what configures this machine must not configure the tests.
    request.environment = {"http_proxy",      "HTTP_PROXY", "https_proxy",        "HTTPS_PROXY",
                           "all_proxy",       "ALL_PROXY",  "REQUESTS_CA_BUNDLE", "VIRTUAL_ENV",
                           "XDG_CONFIG_HOME", "NETRC",      "PYTHONHOME"};
    for (const char* name :
         {"PYPI_URL", "INDEX_URL", "EXTRA_INDEX_URL", "NO_INDEX", "FIND_LINKS", "TRUSTED_HOST", "CERT",
          "CLIENT_CERT", "PROXY", "KEYRING_PROVIDER", "CONFIG_FILE"})
      if (!variables.contains(std::string("PIP_") + name))
        request.environment.push_back(std::string("PIP_") + name);
    for (const auto& [name, value] : variables) request.environment.push_back(name + "=" + value);
    const auto outcome = run_child(request);
    memory_kib = outcome ? std::atol(outcome->error.c_str()) : 0;
    return outcome ? outcome->output : "";
  }
  void serve_json(const std::string& sha256) {
    test::write_text(
        server.root() / "simple/sample-engine/index.html",
        R"({"meta":{"api-version":"1.1"},"files":[{"filename":"other.whl","url":"x","hashes":{}},)"
        R"({"filename":")" +
            file_name + R"(","url":"../../files/engine.whl","size":10,"hashes":{"sha256":")" + sha256 +
            R"("}}]})");
  }

  test::TemporaryFolder folder;
  test::NginxServer server;
  const std::string digest = sha256_hex("wheel");
  std::map<std::string, std::string> variables = {{"PATH", (folder / "bin").native() + ":/nowhere"},
                                                  {"HOME", (folder / "home").native()},
                                                  {"XDG_CONFIG_DIRS", (folder / "xdg").native()}};
  long memory_kib = 0;  // the most that the last ask() used
};

}  // namespace enginehost::transfer
