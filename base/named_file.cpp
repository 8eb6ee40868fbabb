#include "base/named_file.hpp"

#include <string>
#include <string_view>
#include <system_error>

#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;

Diagnosis refusal(std::string_view program, const fs::path& file, std::string_view problem) {
  return std::move(diagnose(Code::argument_wrong)
                       .with(Key::program, program)
                       .with(Key::problem, path_text(file) + " " + std::string(problem))
                       .with(Key::file, path_text(file)));
}

}  // namespace

bool is_another_user(unsigned owner) { return owner != 0 && std::to_string(owner) != effective_user(); }

Result<void> refuse_foreign_links(const fs::path& path, std::string_view program) {
  const auto problem = who_may_change(path, Purpose::written).problem;
  if (!problem) return {};
  const std::string link(problem->value(Key::folder)), owner(problem->value(Key::owner));
  std::error_code error;
  const bool is_the_link = path_of(link) == fs::absolute(path, error);
  Diagnosis diagnosis = refusal(program, path,
                                (is_the_link ? "is a link" : "leads through the link " + link) + " of user " +
                                    owner + ", who chose where it leads");
  return fail(std::move(diagnosis.with(Key::link, link).with(Key::owner, owner, "stat")));
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
