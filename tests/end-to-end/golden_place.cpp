#include "tests/end-to-end/golden_place.hpp"

#include "base/text.hpp"
#include "tests/support/paths.hpp"

extern char** environ;

namespace enginehost::test {

Place::Place() {
  std::filesystem::create_directory_symlink(source_path("/tests/profiles"), folder() / "machines");
}

NginxServer& Place::server() {
  if (!server_) {
    if (host_program("nginx").empty()) throw Lacking("nginx is not installed");
    server_ = std::make_unique<NginxServer>();
    std::filesystem::create_directory_symlink(server_->root(), folder() / "served");
  }
  return *server_;
}

Ended Place::run(const std::string& line, const RunOptions& with) const {
  const std::vector<std::string> words = split(line, ' ');
  ChildRequest request = workplace_.request(words.front(), {words.begin() + 1, words.end()}, with);
  request.folder = folder().native();
  std::vector<std::string> removed;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name = split(*variable, '=').front();
    if (name != "PATH" && !name.ends_with("_OPTIONS")) removed.push_back(name);
  }
  request.environment.insert(request.environment.begin(), removed.begin(), removed.end());
  request.environment.emplace_back("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
  const auto child = run_child(request);
  if (!child) throw std::runtime_error(line + " could not be started");
  if (child->timed_out) throw std::runtime_error(line + " took too long");
  Ended ended;
  ended.status = child->signal != 0 ? 128 + child->signal : child->exit_code;
  ended.output = child->output;
  ended.error = child->error;
  return ended;
}

void Place::after(const std::string& line, int status) const {
  const Ended ended = run(line);
  if (ended.status != status) throw std::runtime_error(line + "\n" + ended.said());
}

std::string to_whole_mebibytes(std::string bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  bytes.resize((bytes.size() + mebibyte - 1) / mebibyte * mebibyte, '\0');
  return bytes;
}

TestBuild sound_build() {
  TestBuild build = good_build("reference-1.0.0-cpu");
  build.files = {{build.plugin, to_whole_mebibytes(reference_plugin())}};
  return build;
}

}  // namespace enginehost::test
