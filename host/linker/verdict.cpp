#include "host/linker/verdict.hpp"

namespace enginehost::linker {
namespace {

Refusal other_machine(const Machine& machine, const binary::BinaryInfo& info, const std::string& path,
                      bool direct, bool class_differs) {
  Refusal refusal;
  refusal.diagnosis = diagnose(class_differs ? "EH-L06" : direct ? "EH-L04" : "EH-L05");
  refusal.diagnosis.with("file", path)
      .with("built_for", info.machine, "e_machine")
      .with("built_for_bits", std::to_string(info.bits), "e_ident")
      .with("machine", machine.architecture)
      .with("machine_bits", std::to_string(machine.bits));
  refusal.why = class_differs ? std::to_string(info.bits) + "-bit (" + info.machine + ")" : info.machine;
  return refusal;
}

std::string_view level_name(std::uint32_t bits) {
  if ((bits & 8) != 0) return "x86-64-v4";
  if ((bits & 4) != 0) return "x86-64-v3";
  if ((bits & 2) != 0) return "x86-64-v2";
  return "x86-64 baseline";
}

std::string short_reason(const Diagnosis& diagnosis, const binary::BinaryInfo& info) {
  const std::string_view code = diagnosis.code;
  if (code == "EH-F04") return "truncated";
  if (code == "EH-F08" || code == "EH-F12" || code == "EH-L07")
    return std::string(diagnosis.value("problem"));
  if (code == "EH-F10" && info.kind == binary::Kind::elf) return std::string(binary::name_of(info.type));
  if (code == "EH-F13") return "refuses dlopen";
  return info.sniffed;
}

}  // namespace

std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct) {
  if (info.kind == binary::Kind::pe || info.kind == binary::Kind::macho) {
    Refusal refusal{info.sniffed, true, diagnose("EH-F09")};
    refusal.diagnosis.with("file", path).with("format", info.sniffed).with("built_for", info.machine);
    return refusal;
  }
  if (info.kind == binary::Kind::elf && info.bits != 0 && !info.machine.empty()) {
    const bool class_differs = machine.bits != 0 && info.bits != machine.bits;
    if (class_differs || (!machine.architecture.empty() && info.machine != machine.architecture)) {
      Refusal refusal = other_machine(machine, info, path, direct, class_differs);
      // A direct open has no next place to look at. musl has no such check at all and loads the file, which
      // is worse.
      refusal.fatal = direct || machine.libc == Libc::musl;
      return refusal;
    }
  }
  if (!info.problems.empty()) {
    // The linker script libc.so of a development package is what a library built for musl meets on glibc.
    return Refusal{short_reason(info.problems.front(), info), true, info.problems.front()};
  }
  if (info.has_load && machine.page_size > 4096 && info.load_alignment % machine.page_size != 0) {
    Refusal refusal{"built for smaller pages", true, diagnose("EH-F12")};
    refusal.diagnosis.with("file", path)
        .with("problem", "misaligned", "program headers")
        .with("alignment", std::to_string(info.load_alignment))
        .with("page_size", std::to_string(machine.page_size));
    return refusal;
  }
  if (machine.isa != 0 && (info.isa_needed & 0xf & ~machine.isa) != 0) {
    Refusal refusal{std::string("needs ") + std::string(level_name(info.isa_needed)), true,
                    diagnose("EH-L27")};
    refusal.diagnosis.with("file", path)
        .with("needs", level_name(info.isa_needed), "GNU_PROPERTY_X86_ISA_1_NEEDED")
        .with("have", level_name(machine.isa), "cpuid")
        .with("required_by", path);
    return refusal;
  }
  return std::nullopt;
}

}  // namespace enginehost::linker
