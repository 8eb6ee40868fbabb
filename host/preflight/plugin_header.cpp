#include "host/preflight/judgments.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "host/binary/binary.hpp"
#include "host/preflight/plugin_floors.hpp"

namespace enginehost::preflight {

void judge_plugin_header(const std::filesystem::path& plugin, const std::filesystem::path& on_disk,
                         std::vector<Diagnosis>& diagnoses, std::vector<Diagnosis>& doubts) {
  const auto header = binary::read_plugin_header(on_disk);
  if (!header) {
    // Other problems of the file are reported by the code that searched its libraries.
    const Diagnosis& why = header.error();
    const auto reported = [&](const Diagnosis& one) {
      return one.code == why.code && one.value("file") == why.value("file");
    };
    if (why.code == "EH-F01" && !binary::no_such_file(why) &&
        std::none_of(diagnoses.begin(), diagnoses.end(), reported))
      diagnoses.push_back(why);
    return;
  }
  // A library of another system: a diagnosis already states that it cannot be loaded here, whatever it
  // exports.
  for (const Diagnosis& diagnosis : diagnoses)
    if (diagnosis.code == "EH-F09") return;
  using State = binary::PluginHeader::State;
  if (header->state == State::symbol_absent) {
    Diagnosis diagnosis = diagnose("EH-R11");
    diagnosis.with("file", path_text(plugin))
        .with("symbol", "engine_plugin_v1", "dynamic symbols of the file");
    for (const std::string& name : header->exports) diagnosis.with("exports", name);
    diagnoses.push_back(std::move(diagnosis));
  } else if (header->state == State::no_object) {
    diagnoses.push_back(std::move(diagnose("EH-R11")
                                      .with("file", path_text(plugin))
                                      .with("problem",
                                            "its engine_plugin_v1 is a function, or thread-local; a "
                                            "plugin's is a constant object")));
  } else if (auto room = check_object_size(header->object_size, plugin); !room) {
    diagnoses.push_back(std::move(room).error());
  } else if (header->state == State::no_bytes) {
    doubts.push_back(std::move(
        diagnose("EH-R11")
            .with("file", path_text(plugin))
            .with("problem",
                  "its engine_plugin_v1 is filled in by code at start and cannot be read from the file")));
  } else if (auto fits = check_floors(
                 {header->magic, header->size, header->abi_major, header->abi_minor, header->host_minor},
                 plugin);
             !fits) {
    diagnoses.push_back(std::move(fits).error());
  }
}

}  // namespace enginehost::preflight
