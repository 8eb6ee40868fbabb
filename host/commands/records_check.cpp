#include "host/commands/records_check.hpp"

#include <cerrno>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/history/store.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

Result<fs::path> move_aside(const fs::path& file) {
  fs::path to = file;
  to += ".aside-" + random_hex(4);
  if (calls::rename(file.c_str(), to.c_str()) == 0) return to;
  return fail(diagnose_errno("EH-F16", errno).with("place", "state").with("file", path_text(file)));
}

}  // namespace

Json check_records(const settings::Settings& settings, bool repair, bool print_text,
                   std::optional<Diagnosis>& worst) {
  Json unreadable = Json::array(), moved = Json::array();
  bool ok = true;
  const auto report = [&](const std::string& text) {
    unreadable.push(text);
    ok = false;
    if (print_text) say("records  %s\n", with_given_flags(text).c_str());
  };
  for (const fs::path& folder : {settings.state_folder, settings.read_state_folder}) {
    if (folder.empty()) continue;
    const bool may_write = folder == settings.state_folder;
    for (const std::string& warning :
         history::read(folder, open::OpenContext::now(), nullptr, may_write).warnings)
      report(warning);
  }
  for (const char* name : {"consents/consents.jsonl", "audit/audit.jsonl"}) {
    if (settings.state_folder.empty()) break;
    const fs::path file = settings.state_folder / path_of(name);
    auto usable = settings::check_record_file(file);
    if (!usable && repair) {
      if (const auto to = move_aside(file)) {
        moved.push(Json::object().set("file", path_text(file)).set("to", path_text(*to)));
        if (print_text)
          say("records  moved %s aside, to %s\n", path_text(file).c_str(), path_text(*to).c_str());
        continue;
      } else {
        usable = fail(to.error());
      }
    }
    if (usable) continue;
    report(path_text(file) + " is " + std::string(usable.error().value("kind")) + ", not a file of records");
    if (!worst) worst = std::move(usable).error();
  }
  return Json::object()
      .set("ok", ok)
      .set("unreadable", std::move(unreadable))
      .set("set_aside", std::move(moved));
}

}  // namespace enginehost::commands
