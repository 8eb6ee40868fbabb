#include "tests/end-to-end/system.hpp"

namespace enginehost::test {

const char* const plugin_name = "libengine_reference.so";
const char* const system_name = "linux";
const char* const program_ending = "";
const char* const missing_library_code = "EH-L01";

std::vector<std::string> environment_of_user(const std::filesystem::path& folder) {
  return {"HOME=" + (folder / "home").native(), "XDG_CONFIG_HOME=" + (folder / "config").native(),
          "XDG_STATE_HOME", "XDG_CACHE_HOME"};
}

std::filesystem::path config_of_user(const std::filesystem::path& folder) {
  return folder / "config" / "enginehost" / "config.json";
}

}  // namespace enginehost::test
