#include "host/platform/machine_key.hpp"

#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "host/platform/darwin/kernel_values.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

// Change this when detect() reads something else, so that facts remembered by an older version are not used.
constexpr std::string_view version = "machine key of macOS 2";

class MachineKeyBuilder {
 public:
  void add(std::string_view name, std::string_view value) {
    text_.append(name).push_back('=');
    text_.append(value).push_back('\n');
  }
  void add(std::string_view name, std::uint64_t value) { add(name, std::to_string(value)); }
  void stamp(const std::filesystem::path& file) {
    const std::string name = path_text(file);
    const auto stamp = stamp_of(file);
    if (!stamp) return add(name, "absent");
    for (const std::uint64_t number : {stamp->device, stamp->inode, stamp->size}) add(name, number);
    add(name, static_cast<std::uint64_t>(stamp->modified_ns));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

// The system's libraries and drivers are sealed and change only with its version.
std::string machine_key_text(Reach reach) {
  MachineKeyBuilder key_text;
  key_text.add("version", version);
  key_text.add("reach", reach == Reach::everything ? "everything" : "decisive");
  key_text.add("boot", boot_id());
  key_text.add("system", kernel::text("kern.osversion"));
  key_text.add("processor", kernel::text("machdep.cpu.brand_string"));
  key_text.add("translated", kernel::number("sysctl.proc_translated").value_or(0));
  key_text.add("pointer", sizeof(void*));
  key_text.add("user", effective_user());
  for (const auto& [name, value] : process_variables())
    if (is_loader_variable(name) ||
        (reach == Reach::everything && (name == "PATH" || name == "CONDA_DEFAULT_ENV")))
      key_text.add(name, value);
  if (reach == Reach::everything) key_text.add("processors", kernel::number("hw.activecpu").value_or(0));
  return key_text.text();
}

std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach) {
  std::vector<MachineInput> inputs;
  if (!request.helper.empty()) inputs.push_back({MachineInput::What::stamp, path_text(request.helper)});
  if (!request.cache_folder.empty())
    inputs.push_back({MachineInput::What::noexec, path_text(request.cache_folder)});
  return inputs;
}

std::string machine_text(const DetectRequest& request, Reach reach) {
  MachineKeyBuilder rest;
  rest.add("root", path_text(request.root));
  rest.add("helper", path_text(request.helper));
  if (!request.helper.empty()) rest.stamp(request.helper);
  for (const std::string& word : request.helper_launcher) rest.add("launcher", word);
  rest.add("cache", path_text(request.cache_folder));
  if (!request.cache_folder.empty())
    rest.add("noexec", forbids_execution(request.cache_folder) ? "yes" : "no");
  return machine_key_text(reach) + rest.text();
}

std::string machine_key(const DetectRequest& request, Reach reach) {
  return sha256_hex(machine_text(request, reach));
}

std::vector<std::string> files_in_machine_key_text(const std::string&) { return {}; }

}  // namespace enginehost::platform
