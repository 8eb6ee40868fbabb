#include "host/preflight/preflight.hpp"

#include "base/paths.hpp"
#include "base/text.hpp"

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

// A JSON object that leaves out members without a value.
class Members {
 public:
  Members& text(std::string_view name, const std::string& value) {
    if (!value.empty()) object_.set(name, value);
    return *this;
  }
  Members& list(std::string_view name, const std::vector<std::string>& values) {
    if (!values.empty()) object_.set(name, Json::strings(values));
    return *this;
  }
  Members& number(std::string_view name, std::uint64_t value) {
    if (value != 0) object_.set(name, value);
    return *this;
  }
  Members& always(std::string_view name, Json value) {
    object_.set(name, std::move(value));
    return *this;
  }
  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

Json of_pe(const binary::PeFacts& pe, const binary::PeResources& resources) {
  return Members()
      .text("linker_version", pe.linker_version)
      .text("subsystem", pe.subsystem)
      .text("system_version", pe.system_version)
      .number("image_base", pe.image_base)
      .number("dependent_load_flags", pe.dependent_load_flags)
      .text("file_version", resources.file_version)
      .text("product_version", resources.product_version)
      .always("has_manifest", resources.has_manifest)
      .list("assemblies", resources.assemblies)
      .take();
}

Json of_macho(const binary::MachoFacts& macho) {
  Json dylibs = Json::array();
  for (const binary::DylibNeed& need : macho.dylibs)
    dylibs.push(Json::object()
                    .set("name", need.name)
                    .set("how", binary::name_of(need.how))
                    .set("current_version", need.current_version)
                    .set("compatibility_version", need.compatibility_version));
  return Members()
      .text("file_type", macho.file_type)
      .text("platform", macho.platform)
      .text("sdk", macho.sdk)
      .text("current_version", macho.current_version)
      .text("compatibility_version", macho.compatibility_version)
      .always("dylibs", std::move(dylibs))
      .take();
}

Members of_file(const BinaryInfo& info) {
  Members members;
  members.text("machine", info.machine)
      .number("bits", static_cast<std::uint64_t>(info.bits))
      .always("type", binary::name_of(info.type))
      .text("os_abi", info.os_abi)
      .always("size", info.file_size)
      .always("needed_size", info.needed_size)
      .number("memory_size", info.memory_size)
      .number("tls_size", info.tls_size)
      .text("soname", info.soname)
      .always("needed", Json::strings(info.needed))
      .list("delayed", info.delayed)
      .list("optional", info.optional)
      .list("reexported", info.reexported)
      .list("rpath", info.rpath)
      .list("runpath", info.runpath)
      .text("interpreter", info.interpreter)
      .list("version_definitions", info.version_definitions)
      .text("isa_needed", isa_level(info.isa_needed))
      .text("minimum_os", info.minimum_os)
      .text("build_id", info.build_id)
      .always("flags", Json::strings(flags_of(info)));
  if (info.kind == Kind::pe || info.kind == Kind::macho) members.always("code_signed", info.code_signed);
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
  Members members = of_file(facts.info);
  if (facts.info.kind == Kind::pe) members.always("pe", of_pe(facts.info.pe, facts.resources));
  if (facts.info.kind == Kind::macho) members.always("macho", of_macho(facts.info.macho));
  if (!facts.slices.empty()) {
    Json slices = Json::array();
    for (std::size_t i = 0; i < facts.slices.size(); ++i) {
      Members slice = of_file(facts.slices[i]);
      slice.always("offset", facts.info.slices[i].offset).always("slice_size", facts.info.slices[i].size);
      slice.always("macho", of_macho(facts.slices[i].macho));
      slices.push(slice.take());
    }
    members.always("slices", std::move(slices));
  }
  members.text("gpu_code_note", facts.gpu_code_note);
  return members.take();
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
  Json missing = Json::array();
  for (const linker::Missing& one : report.missing) {
    Json searched = Json::array();
    for (const linker::Searched& place : one.searched) searched.push(place.directory);
    missing.push(Json::object()
                     .set("name", one.name)
                     .set("needed_by", one.needed_by)
                     .set("chain", Json::strings(one.chain))
                     .set("searched", std::move(searched)));
  }
  Json rejected = Json::array();
  for (const linker::Rejected& one : report.rejected)
    rejected.push(Json::object().set("path", one.path).set("why", one.why).set("needed_by", one.needed_by));
  Json closure = Json::array();
  for (const Report::Item& one : report.closure)
    closure.push(Json::object().set("name", one.name).set("path", one.path).set("needed_by", one.needed_by));
  Json versions = Json::array();
  for (const linker::HighestVersion& one : report.highest)
    versions.push(Json::object()
                      .set("version", one.family + "_" + one.version)
                      .set("library", one.library)
                      .set("required_by", one.required_by)
                      .set("found", true));
  for (const linker::VersionProblem& one : report.versions)
    versions.push(Json::object()
                      .set("version", one.version)
                      .set("library", one.library)
                      .set("required_by", one.required_by)
                      .set("found", false)
                      .set("path", one.path)
                      .set("newest", one.newest));
  Json gpu_code = Json::array();
  for (const auto& one : report.gpu_code)
    gpu_code.push(Json::object().set("kind", one.kind).set("arch", one.arch).set("count", one.count));
  Json warnings = Json::array(), diagnoses = Json::array();
  for (const Diagnosis& one : report.warnings) warnings.push(describe(one));
  for (const Diagnosis& one : report.diagnoses) diagnoses.push(describe(one));
  Json document = Json::object();
  document.set("format", 1)
      .set("file", path_text(report.file))
      .set("kind", binary::name_of(report.kind))
      .set("verdict", name_of(report.verdict))
      .set("binary", to_json(report.facts))
      .set("missing", std::move(missing))
      .set("rejected", std::move(rejected))
      .set("closure", std::move(closure))
      .set("versions", std::move(versions))
      .set("gpu_code", std::move(gpu_code))
      .set("warnings", std::move(warnings))
      .set("notes", Json::strings(report.notes));
  document.set("diagnosis", report.diagnoses.empty() ? Json() : diagnoses.as_array().front());
  document.set("diagnoses", std::move(diagnoses));
  return document;
}

}  // namespace enginehost::preflight
