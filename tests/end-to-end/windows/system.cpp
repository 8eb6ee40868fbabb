#include "tests/end-to-end/system.hpp"

#include "base/paths.hpp"

namespace enginehost::test {

const char* const plugin_name = "engine_reference.dll";
const char* const system_name = "windows";
const char* const program_ending = ".exe";
const char* const missing_library_code = "EH-W01";

std::vector<std::string> environment_of_user(const std::filesystem::path& folder) {
  return {"USERPROFILE=" + path_text(folder / "home"), "LOCALAPPDATA=" + path_text(folder / "config")};
}

std::filesystem::path config_of_user(const std::filesystem::path& folder) {
  return folder / "config" / "EngineHost" / "config.json";
}

}  // namespace enginehost::test
