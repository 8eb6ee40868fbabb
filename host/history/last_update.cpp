#include "host/history/last_update.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::history {
namespace {

std::filesystem::path file_of_update(const std::filesystem::path& state_folder, std::string_view engine) {
  return updates_folder(state_folder) / (percent_encoded(engine, "-_") + ".json");
}

Json document_of(const UsedBuild& used) {
  return Json::object().set("build", used.build).set("version", used.version).set("flavor", used.flavor);
}

UsedBuild used_from(const Json& document) {
  return {document["build"].as_string(), document["version"].as_string(), document["flavor"].as_string()};
}

}  // namespace

std::filesystem::path updates_folder(const std::filesystem::path& state_folder) {
  return state_folder / "updates";
}

std::optional<LastUpdate> read_last_update(const std::filesystem::path& state_folder,
                                           std::string_view engine) {
  if (state_folder.empty()) return std::nullopt;
  const std::filesystem::path file = file_of_update(state_folder, engine);
  const auto text = read_file(file, 1u << 16);
  if (!text) return std::nullopt;
  const auto document = parse_json(*text, path_text(file));
  if (!document || (*document)["format"].as_integer() != 1) return std::nullopt;
  LastUpdate update;
  update.engine = (*document)["engine"].as_string();
  update.now = used_from((*document)["now"]);
  update.before = used_from((*document)["before"]);
  update.held = (*document)["held"].as_bool();
  update.at = (*document)["at"].as_integer();
  if (update.engine != engine || update.now.build.empty()) return std::nullopt;
  return update;
}

Result<void> write_last_update(const std::filesystem::path& state_folder, const LastUpdate& update) {
  TRY(make_folders(updates_folder(state_folder)));
  const Json document = Json::object()
                            .set("format", 1)
                            .set("engine", update.engine)
                            .set("now", document_of(update.now))
                            .set("before", document_of(update.before))
                            .set("held", update.held)
                            .set("at", update.at);
  return write_file(file_of_update(state_folder, update.engine), document.dump(2) + "\n");
}

}  // namespace enginehost::history
