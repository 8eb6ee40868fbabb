#include "host/commands/output_files.hpp"

#include <cctype>
#include <cstdint>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/npy.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/model.hpp"

namespace enginehost::commands {
namespace {

// File systems allow 255 bytes; a number and the extension are added.
constexpr std::size_t longest = 200;

std::string plain(std::string name) {
  if (name.size() > longest) name.resize(longest);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

std::vector<std::string> file_names_of(const std::vector<std::string>& outputs) {
  std::vector<std::string> names(outputs.size());
  std::set<std::string> taken;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const std::string name = plain(outputs[i]); name == outputs[i] && taken.insert(to_lower(name)).second)
      names[i] = name;
  // The next number for each name, so that a model of many outputs with one name does not take hours.
  std::map<std::string, int> next;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!names[i].empty()) continue;
    const std::string wanted = plain(outputs[i]);
    names[i] = wanted;
    int& number = next.try_emplace(to_lower(wanted), 2).first->second;
    while (!taken.insert(to_lower(names[i])).second) names[i] = wanted + "_" + std::to_string(number++);
  }
  return names;
}

namespace {

Result<void> write(const engine_tensor& tensor, const std::filesystem::path& file) {
  const std::vector<std::int64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  return write_npy(file, tensor.dtype, shape, static_cast<const char*>(tensor.data) + tensor.byte_offset);
}

}  // namespace

Result<OutputFiles> write_outputs(const std::vector<RunOutput>& outputs,
                                  const std::filesystem::path& folder) {
  if (!folder.empty()) TRY(explain::mark_as_argument(make_folders(folder)));
  std::vector<std::string> names;
  for (const RunOutput& output : outputs) names.push_back(output.name);
  const std::vector<std::string> files = file_names_of(names);
  OutputFiles done;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string type = load::describe_tensor(*outputs[i].tensor);
    Json entry = Json::object().set("output", outputs[i].port).set("type", type);
    done.text += "  " + printable_line(outputs[i].port + "  " + type);
    if (!folder.empty()) {
      const std::filesystem::path file = folder / path_of(files[i] + ".npy");
      if (auto written = explain::mark_as_argument(write(*outputs[i].tensor, file)); written) {
        entry.set("file", path_text(file));
        done.text += "  " + printable_line(path_text(file));
      } else {
        Diagnosis& failure = written.error();
        failure.with(Key::output, outputs[i].name, "the model").with(Key::type, type, "the engine");
        entry.set("diagnosis", explain::to_json(failure));
        done.text += "  not written";
        done.failures.push_back(std::move(failure));
      }
    }
    done.text += "\n";
    done.document.push(std::move(entry));
  }
  return done;
}

}  // namespace enginehost::commands
