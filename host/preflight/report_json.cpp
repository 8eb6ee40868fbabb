#include <algorithm>
#include <iterator>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {
namespace {

using binary::BinaryInfo;
using binary::Kind;

// Names the properties that the file has; properties that it lacks are left out.
std::vector<std::string> flags_of(const BinaryInfo& info) {
  std::vector<std::string> flags;
  auto mark = [&](bool set, const char* word) {
    if (set) flags.emplace_back(word);
  };
  mark(info.stand_in, "stand-in of EngineHost's");
  mark(info.executable_stack, "executable stack");
  mark(info.text_relocations, "text relocations");
  mark(info.static_tls, "static TLS");
  mark(info.no_dlopen, "refuses dlopen");
  mark(info.no_default_directories, "no default folders");
  mark(info.packed_relocations, "packed relocations (DT_RELR)");
  const binary::PeFacts& pe = info.pe;
  mark(pe.dynamic_base, "dynamic base");
  mark(pe.high_entropy_addresses, "high-entropy addresses");
  mark(pe.no_execute, "no execute (NX)");
  mark(pe.control_flow_guard, "control flow guard");
  mark(pe.force_integrity, "force integrity");
  mark(pe.app_container, "app container");
  mark(pe.no_isolation, "no isolation");
  mark(pe.bound_imports, "bound imports");
  mark(pe.managed, "managed code (.NET)");
  mark(info.macho.two_level_namespace, "two-level namespace");
  mark(info.macho.thread_locals, "thread-local variables");
  mark(info.macho.chained_fixups, "chained fixups");
  mark(info.macho.encrypted, "encrypted");
  return flags;
}

std::string isa_level(std::uint32_t bits) {
  for (unsigned level = 4; level >= 2; --level)
    if ((bits & (1u << (level - 1))) != 0) return "x86-64-v" + std::to_string(level);
  return (bits & 1u) != 0 ? "x86-64 baseline" : "";
}

// Returns an object without the members that have no value ("", 0 or an empty list), except these.
Json with_values(const Json::Object& members) {
  constexpr std::string_view always[] = {"size", "needed_size", "needed", "flags", "dylibs"};
  Json object = Json::object();
  for (const auto& [name, value] : members) {
    const bool empty = value == Json("") || value == Json(0) || value == Json::array();
    if (!empty || std::ranges::find(always, name) != std::end(always)) object.set(name, value);
  }
  return object;
}

template <class Items, class Make>
Json list_of(const Items& items, Make make) {
  Json list = Json::array();
  for (const auto& one : items) list.push(make(one));
  return list;
}

Json of_pe(const binary::PeFacts& pe, const binary::PeResources& resources) {
  return with_values({{"linker_version", pe.linker_version},
                      {"subsystem", pe.subsystem},
                      {"system_version", pe.system_version},
                      {"image_base", pe.image_base},
                      {"dependent_load_flags", pe.dependent_load_flags},
                      {"file_version", resources.file_version},
                      {"product_version", resources.product_version},
                      {"has_manifest", resources.has_manifest},
                      {"assemblies", Json::strings(resources.assemblies)}});
}

Json of_macho(const binary::MachoFacts& macho) {
  return with_values({{"file_type", macho.file_type},
                      {"platform", macho.platform},
                      {"sdk", macho.sdk},
                      {"current_version", macho.current_version},
                      {"compatibility_version", macho.compatibility_version},
                      {"dylibs", list_of(macho.dylibs, [](const binary::DylibNeed& need) {
                         return Json::object()
                             .set("name", need.name)
                             .set("how", binary::name_of(need.how))
                             .set("current_version", need.current_version)
                             .set("compatibility_version", need.compatibility_version);
                       })}});
}

Json of_file(const BinaryInfo& info) {
  Json members = with_values({{"machine", info.machine},
                              {"bits", info.bits},
                              {"type", binary::name_of(info.type)},
                              {"os_abi", info.os_abi},
                              {"size", info.file_size},
                              {"needed_size", info.needed_size},
                              {"memory_size", info.memory_size},
                              {"tls_size", info.tls_size},
                              {"soname", info.soname},
                              {"needed", Json::strings(info.needed)},
                              {"delayed", Json::strings(info.delayed)},
                              {"optional", Json::strings(info.optional)},
                              {"reexported", Json::strings(info.reexported)},
                              {"rpath", Json::strings(info.rpath)},
                              {"runpath", Json::strings(info.runpath)},
                              {"interpreter", info.interpreter},
                              {"version_definitions", Json::strings(info.version_definitions)},
                              {"isa_needed", isa_level(info.isa_needed)},
                              {"minimum_os", info.minimum_os},
                              {"build_id", info.build_id},
                              {"flags", Json::strings(flags_of(info))}});
  if (info.kind == Kind::pe || info.kind == Kind::macho) members.set("code_signed", info.code_signed);
  return members;
}

void add_list(std::vector<std::string>& lines, const char* word, const std::vector<std::string>& values) {
  if (!values.empty()) lines.push_back(std::string(word) + " " + join(values, ", "));
}
void add_text(std::vector<std::string>& lines, const char* word, const std::string& value) {
  if (!value.empty()) lines.push_back(std::string(word) + " " + value);
}

void add_file_lines(const BinaryInfo& info, bool with_needs, std::vector<std::string>& lines) {
  add_text(lines, "named", info.soname);
  const bool macho = info.kind == Kind::macho;
  std::vector<std::string> needs = info.needed;
  if (macho) {
    needs.clear();
    for (const binary::DylibNeed& need : info.macho.dylibs)
      if (need.how != binary::DylibNeed::How::weak && need.how != binary::DylibNeed::How::lazy)
        needs.push_back(need.name + " (" + std::string(binary::name_of(need.how)) + ", at least " +
                        need.compatibility_version + ")");
  }
  if (with_needs)
    for (const std::string& need : needs) lines.push_back("needs " + need);
  add_list(lines, "needs at first use:", info.delayed);
  add_list(lines, "may do without:", info.optional);
  add_list(lines, "searches (RPATH)", info.rpath);
  add_list(lines, "searches (RUNPATH)", info.runpath);
  add_text(lines, "needs a processor of level", isa_level(info.isa_needed));
  if (macho) {
    if (!info.minimum_os.empty())
      lines.push_back("built for " + info.macho.platform + " " + info.minimum_os + " and newer" +
                      (info.macho.sdk.empty() ? "" : ", with SDK " + info.macho.sdk));
    if (!info.macho.current_version.empty())
      lines.push_back("version " + info.macho.current_version + ", compatible with " +
                      info.macho.compatibility_version);
  }
  if (info.kind == Kind::pe) {
    lines.push_back("linked by a linker of version " + info.pe.linker_version + " for the " +
                    info.pe.subsystem + " subsystem " + info.minimum_os);
    if (info.pe.dependent_load_flags != 0)
      lines.push_back("searches its imports with flags " + std::to_string(info.pe.dependent_load_flags));
  }
  if (info.kind == Kind::pe || macho) lines.push_back(info.code_signed ? "signed" : "not signed");
  if (info.tls_size != 0) lines.push_back("thread-local data " + format_bytes(info.tls_size));
  add_list(lines, "flags:", flags_of(info));
  add_text(lines, "build id", info.build_id);
}

std::string head_line(const BinaryInfo& info) {
  std::string line = std::string(info.sniffed.empty() ? "file" : info.sniffed);
  if (!info.machine.empty()) line += " for " + info.machine;
  if (info.kind != Kind::unknown)
    line += ", " + std::string(info.kind == Kind::macho && !info.macho.file_type.empty()
                                   ? info.macho.file_type
                                   : binary::name_of(info.type));
  line += ", " + format_bytes(info.file_size);
  // A file that is not mapped has no segments that could be truncated.
  if (info.needed_size == 0 && info.memory_size == 0) return line;
  return line + " (" + format_bytes(info.needed_size) + " needed, " + format_bytes(info.memory_size) +
         " in memory)";
}

}  // namespace

BinaryFacts gather_facts(const std::filesystem::path& file, BinaryInfo info) {
  BinaryFacts facts;
  for (const binary::Slice& slice : info.slices)
    if (auto one = binary::read_binary(file, slice.machine)) facts.slices.push_back(std::move(*one));
  if (info.pe.has_resources)
    if (auto resources = binary::pe_resources(file)) facts.resources = std::move(*resources);
  facts.info = std::move(info);
  return facts;
}

Json to_json(const BinaryFacts& facts) {
  Json members = of_file(facts.info);
  if (facts.info.kind == Kind::pe) members.set("pe", of_pe(facts.info.pe, facts.resources));
  if (facts.info.kind == Kind::macho) members.set("macho", of_macho(facts.info.macho));
  Json slices = Json::array();
  for (std::size_t i = 0; i < facts.slices.size(); ++i)
    slices.push(of_file(facts.slices[i])
                    .set("offset", facts.info.slices[i].offset)
                    .set("slice_size", facts.info.slices[i].size)
                    .set("macho", of_macho(facts.slices[i].macho)));
  if (!facts.slices.empty()) members.set("slices", std::move(slices));
  if (!facts.gpu_code_note.empty()) members.set("gpu_code_note", facts.gpu_code_note);
  return members;
}

std::vector<std::string> to_lines(const BinaryFacts& facts, bool with_needs) {
  std::vector<std::string> lines{head_line(facts.info)};
  if (facts.info.kind == Kind::unknown) return lines;
  if (facts.slices.empty()) add_file_lines(facts.info, with_needs, lines);
  for (const BinaryInfo& slice : facts.slices) {
    lines.push_back("slice for " + slice.machine);
    std::vector<std::string> own;
    add_file_lines(slice, with_needs, own);
    for (std::string& line : own) lines.push_back("  " + std::move(line));
  }
  add_text(lines, "file version", facts.resources.file_version);
  if (facts.resources.has_manifest) lines.emplace_back("has a manifest");
  add_list(lines, "needs side-by-side assemblies:", facts.resources.assemblies);
  add_text(lines, "GPU code may be listed incompletely:", facts.gpu_code_note);
  return lines;
}

Json to_json(const Report& report, Json (*describe)(const Diagnosis&)) {
  Json versions = list_of(report.highest, [](const linker::HighestVersion& one) {
    return Json::object()
        .set("version", one.family + "_" + one.version)
        .set("library", one.library)
        .set("required_by", one.required_by)
        .set("found", true);
  });
  for (const linker::VersionProblem& one : report.versions)
    versions.push(Json::object()
                      .set("version", one.version)
                      .set("library", one.library)
                      .set("required_by", one.required_by)
                      .set("found", false)
                      .set("path", one.path)
                      .set("newest", one.newest));
  Json document = Json::object();
  document.set("format", 1)
      .set("file", path_text(report.file))
      .set("kind", binary::name_of(report.kind))
      .set("verdict", name_of(report.verdict))
      .set("binary", to_json(report.facts))
      .set("missing", list_of(report.missing,
                              [](const linker::Missing& one) {
                                return Json::object()
                                    .set("name", one.name)
                                    .set("needed_by", one.needed_by)
                                    .set("chain", Json::strings(one.chain))
                                    .set("searched", list_of(one.searched, [](const linker::Searched& place) {
                                           return Json(place.directory);
                                         }));
                              }))
      .set("rejected", list_of(report.rejected,
                               [](const linker::Rejected& one) {
                                 return Json::object()
                                     .set("path", one.path)
                                     .set("why", one.why)
                                     .set("needed_by", one.needed_by);
                               }))
      .set("closure", list_of(report.closure,
                              [](const Report::Item& one) {
                                return Json::object()
                                    .set("name", one.name)
                                    .set("path", one.path)
                                    .set("needed_by", one.needed_by);
                              }))
      .set("versions", std::move(versions))
      .set(
          "gpu_code",
          list_of(report.gpu_code,
                  [](const binary::GpuCode::Entry& one) {
                    return Json::object().set("kind", one.kind).set("arch", one.arch).set("count", one.count);
                  }))
      .set("warnings", list_of(report.warnings, describe))
      .set("notes", Json::strings(report.notes))
      .set("diagnosis", report.diagnoses.empty() ? Json() : describe(report.diagnoses.front()))
      .set("diagnoses", list_of(report.diagnoses, describe));
  return document;
}

}  // namespace enginehost::preflight
