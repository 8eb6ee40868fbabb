#include "base/named_file.hpp"

#include <deque>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

constexpr int longest_chain = 40;  // Linux follows no more either

Diagnosis refusal(std::string_view program, const fs::path& file, std::string_view problem) {
  return std::move(diagnose("EH-P40")
                       .with("program", program)
                       .with("problem", path_text(file) + " " + std::string(problem))
                       .with("file", path_text(file)));
}

}  // namespace

bool is_another_user(unsigned owner) { return owner != 0 && std::to_string(owner) != effective_user(); }

Result<void> refuse_foreign_links(const fs::path& path, std::string_view program) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return {};
  fs::path at = whole.root_path();
  std::deque<fs::path> rest;
  const auto go_through = [&](const fs::path& parts) {
    rest.insert(rest.begin(), parts.begin(), parts.end());
  };
  go_through(whole.relative_path());
  for (int links = 0; !rest.empty() && links < longest_chain;) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / part;
    calls::Status status{};
    if (calls::lstat(next, &status) != 0) return {};  // nothing is there yet
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    if (is_another_user(status.st_uid)) {
      const std::string owner = std::to_string(status.st_uid);
      const std::string link = next == whole ? "is a link" : "leads through the link " + path_text(next);
      Diagnosis diagnosis = refusal(
          program, path,
          link + " of user " + owner + ", who chose where it leads; name another place, or remove the link");
      return fail(std::move(diagnosis.with("link", path_text(next)).with("owner", owner, "stat")));
    }
    ++links;
    const fs::path target = fs::read_symlink(next, error);
    if (error) return {};
    if (target.is_absolute()) at = target.root_path();
    go_through(target.relative_path());
  }
  return {};
}

Result<fs::path> place_for_file(const fs::path& file, std::string_view program) {
  TRY(refuse_foreign_links(file, program));
  const auto no_file = [&](std::string_view what) {
    return fail(refusal(program, file, "is " + std::string(what) + ", and only a file can be written"));
  };
  std::error_code error;
  switch (fs::symlink_status(file, error).type()) {
    case fs::file_type::symlink: {
      fs::path target = fs::canonical(file, error);
      if (error) return no_file("a link to something that is not there");
      if (!fs::is_regular_file(target, error)) return no_file("a link to something that is no file");
      return target;
    }
    case fs::file_type::directory:
      return no_file("a folder");
    case fs::file_type::block:
    case fs::file_type::character:
      return no_file("a device");
    case fs::file_type::fifo:
      return no_file("a pipe");
    case fs::file_type::socket:
      return no_file("a socket");
    default:
      return file;
  }
}

}  // namespace enginehost
