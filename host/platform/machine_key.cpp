#include "host/platform/machine_key.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/thread_variables.hpp"

namespace enginehost::platform {
namespace {

using What = MachineInput::What;

void add_environment(KeyText& text, Reach reach) {
  // Variables that parts of detect() read, besides those of the loader and the runtimes.
  static constexpr std::string_view reported[] = {
      "PATH", "CONDA_DEFAULT_ENV", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER",
      "SNAP"};
  for (const auto& [name, value] : process_variables())
    if (is_loader_variable(name) ||
        (reach == Reach::everything &&
         (is_thread_variable(name) || std::ranges::find(reported, name) != std::end(reported))))
      text.add(name, value);
  // The number of the job differs each time.
  if (reach == Reach::everything) text.add("job", detect_job().value());
}

std::string key_text(const Root& root, Reach reach) {
  KeyText text;
  text.add("reach", reach == Reach::everything ? "everything" : "decisive");
  text.add("pointer", sizeof(void*));  // a 32-bit program on the same system
  text.add("user", effective_user());  // who may open a device
  add_environment(text, reach);
  add_system(text, root, reach);
  return text.take();
}

std::vector<MachineInput> inputs_below(const Root& root, const DetectRequest& request, Reach reach) {
  std::vector<MachineInput> inputs = system_inputs(root, reach);
  if (!request.helper.empty()) inputs.push_back({What::stamp, path_text(request.helper)});
  if (!request.cache_folder.empty()) inputs.push_back({What::noexec, path_text(request.cache_folder)});
  return inputs;
}

void add_answer(KeyText& text, const Root& root, const DetectRequest& request, const MachineInput& input) {
  switch (input.what) {
    case What::presence:
      return text.add(input.path, root.exists(input.path) ? "there" : "absent");
    case What::stamp:
      // The probe belongs to this machine even when another root is examined.
      return text.stamp(input.path,
                        input.path == path_text(request.helper) ? request.helper : root.on_disk(input.path));
    case What::content:
    case What::boot:
      return text.add(input.path, root.read_start(input.path, 4096));
    case What::names:
      return text.add(input.path, join(root.list(input.path), " "));
    case What::noexec:
      return text.add("noexec", forbids_execution(request.cache_folder) ? "yes" : "no");
  }
}

}  // namespace

void KeyText::stamp(std::string_view name, const std::filesystem::path& file) {
  calls::Status status{};
  if (calls::stat(file, &status) != 0) return add(name, errno == EACCES ? "closed" : "absent");
  std::string numbers;
  for (const std::int64_t number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), calls::modified_ns(status)})
    numbers.append(std::to_string(number)).push_back(' ');
  add(name, numbers);
}

std::string machine_key_text(Reach reach) { return key_text(Root(), reach); }

std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach reach) {
  return inputs_below(Root(), request, reach);
}

std::string machine_key(const DetectRequest& request, Reach reach) {
  const Root root(request.root);
  KeyText rest;
  rest.add("root", path_text(request.root));
  rest.add("helper", path_text(request.helper));
  for (const std::string& word : request.helper_launcher) rest.add("launcher", word);
  rest.add("cache", path_text(request.cache_folder));
  for (const MachineInput& input : inputs_below(root, request, reach)) add_answer(rest, root, request, input);
  return sha256_hex(key_text(root, reach) + rest.take());
}

}  // namespace enginehost::platform
