// EH-L01 to EH-L24: linking libraries on Linux (linking_from_25.cpp has the others).
#include "host/explain/catalog/linking_texts.hpp"
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace linking_table {

constexpr Entry entries[] = {
    {.name = {"EH-L01", "library missing"},
     .meaning = "A library that a file needs is in none of the folders that the loader searches.",
     .before = "the closure of the file, searched as the loader would",
     .after = "\"cannot open shared object file\", held against the files",
     .causes =
         {by_current_folder, by_path, without_link, not_searched, other_release_of, other_release,
          "{+library}{needed_by|name} needs {library...}, and no folder that the loader searches has them",
          "{needed_by|name} needs {library...}, and no folder that the loader searches has it",
          "{library...} is needed, and no folder that the loader searches has it",
          "a needed library was not found: {os_said}",
          "a library is needed, and no folder that the loader searches has it"},
     .remedies = provide_library},
    {.name = {"EH-L02", "library missing that another library needs"},
     .meaning =
         "A library that is needed only indirectly is in none of the folders that the loader searches.",
     .before = "the closure of the file, searched as the loader would",
     .after = "\"cannot open shared object file\", held against the files",
     .causes =
         {by_current_folder, by_path, without_link, not_searched, other_release_of, other_release,
          "{+library}{needed_by|name} needs {library...}, and no folder that the loader searches has them",
          "{needed_by|name} needs {library...}, and no folder that the loader searches has it",
          "a library is needed indirectly, and no folder that the loader searches has it"},
     .remedies = provide_library},
    {.name = {"EH-L03", "library present but not where the loader looks"},
     .meaning = "The file is in the build, but the library that needs it has no RUNPATH to it (a RUNPATH is "
                "not inherited). EngineHost opens such libraries first, by absolute path.",
     .before = "the closure with and without opening the build's own libraries first",
     .after = "\"cannot open shared object file\", although the file exists",
     .causes = {"{needed_by|name} needs {library}, a path from the current folder; {tried} does not exist, "
                "the file is at {present_at}",
                "{needed_by|name} needs {library}, which is at {present_at}, where the loader does not look",
                "a needed library is in the build, but not where the loader looks"},
     .remedies = {needed_by_name, "nothing to do: EngineHost opens it by its absolute path{?mended}",
                  "{!tried}publisher: link {needed_by|name} with -Wl,-rpath,'$ORIGIN'",
                  "{!mended}{!needed_by}open the library by its absolute path first"}},
    {.name = {"EH-L04", "library for another processor"},
     .meaning =
         "The file is built for another processor. The loader reports \"No such file or directory\" for it.",
     .before = "e_machine of the file against this machine",
     .after = "\"cannot open shared object file\", although the file exists",
     .causes = {"{file} is built for {built_for}; this machine is {machine}",
                "{file} is built for another processor", "the file is built for another processor"},
     .remedies =
         {"use the build for {machine}; engine-info ENGINE --plan --explain lists them",
          "{!machine}use the build for this processor; engine-info ENGINE --plan --explain lists them"}},
    {.name = {"EH-L05", "a needed library is for another processor"},
     .meaning = "The only file of that name in the loader's folders is built for another processor. The "
                "loader skips it and reports \"No such file or directory\".",
     .before = "every candidate of the search, also those not taken",
     .after = "\"cannot open shared object file\", although a file of that name exists",
     .causes =
         {"{needed_by|name} needs {library}; {path} is built for {built_for}, and this machine is {machine}",
          "{needed_by|name} needs {library}; the file found is built for {built_for}, and this machine is "
          "{machine}",
          "the needed library that was found is built for another processor"},
     .remedies =
         {"install {library} for {machine}: {provided_by...}",
          "install {library} for {machine}, or remove the folder with the other one from the search path",
          "{!library}use the build for this processor, and remove folders of other processors from the "
          "search path"}},
    {.name = {"EH-L06", "library of another word size (32 or 64 bits)"},
     .meaning = "A 32-bit file where 64 bits are needed, or the reverse. The loader skips such a file in the "
                "folders that it searches, and fails if it finds no other. It refuses such a file opened by "
                "its path.",
     .before = "EI_CLASS of every candidate",
     .after = "\"wrong ELF class\"",
     .causes = {"{needed_by|name} needs {library}; {path} is {built_for}, and this process is {machine}",
                "{file} is {built_for}; this process is {machine}", "{file} is of another word size",
                "the file is of another word size"},
     .remedies = {"{found_by=LD_LIBRARY_PATH}remove the folder with the {built_for_bits}-bit {library} from "
                  "LD_LIBRARY_PATH",
                  "{found_by=RUNPATH}ask the publisher to correct the RUNPATH of {needed_by|name}: it leads "
                  "to a {built_for_bits}-bit {library}",
                  "{found_by=RPATH}ask the publisher to correct the RPATH of {needed_by|name}: it leads to a "
                  "{built_for_bits}-bit {library}",
                  "install the {machine_bits}-bit {library}: {provided_by...}",
                  "install the {machine_bits}-bit {library} where the loader looks",
                  "{!library}use the {machine_bits}-bit build",
                  "{!library}{!machine_bits}use the build of this process's word size"}},
    {.name = {"EH-L07", "library for another ELF system"},
     .meaning = "The file's OS ABI, byte order or ELF version is not this system's.",
     .before = "e_ident",
     .after = "\"ELF file OS ABI invalid\", \"ELF file data encoding not little-endian\"",
     .causes = {"{file} is made for {os_abi}, not for this system", "{file}: {problem}",
                "the file is made for another system"},
     .remedies = {"use the build for this operating system"}},
    {.name = {"EH-L08", "C library too old"},
     .meaning = "A library was built on a newer system and needs newer functions of the C library than this "
                "system has.",
     .before = "DT_VERNEED against the versions the C library defines",
     .after = "\"version `GLIBC_…' not found\"",
     .causes =
         {"{required_by|name} needs {needs}; {path} has {have}",
          "the build needs glibc {required}; this system has {found}",
          "{required_by|name} needs {version} of {library}, and this system's {library} does not have it",
          "the C library of this system is older than the build needs"},
     .remedies = {newer_system}},
    {.name = {"EH-L09", "C++ runtime too old"},
     .meaning = "A library was built with a newer compiler than the C++ runtime (libstdc++) that the loader "
                "would find.",
     .before = "DT_VERNEED against the versions of the libstdc++ that would be found",
     .after = "\"version `GLIBCXX_…' not found\"",
     .causes =
         {"{required_by|name} needs {needs}; {path} has {have}",
          "the build needs {required}; the libstdc++ found here has {found}",
          "{required_by|name} needs {version} of {library}, and the {library} found here does not have it",
          "the C++ runtime is older than the build needs"},
     .remedies = {restore_link,
                  "start without LD_LIBRARY_PATH: {path} hides the system's newer one{?from_environment}",
                  "install a newer libstdc++6, or use a build for older systems"}},
    {.name = {"EH-L10", "packed relocations on an old C library"},
     .meaning = "The file uses DT_RELR, which glibc knows since 2.36.",
     .before = "DT_RELR; DT_VERNEED: GLIBC_ABI_DT_RELR",
     .after = "\"version `GLIBC_ABI_DT_RELR' not found\", \"DT_RELR without GLIBC_ABI_DT_RELR dependency\"",
     .causes = {"{required_by|name} uses packed relocations without needing {unmarked}, which glibc requires",
                "{required_by|name} uses packed relocations, which need glibc 2.36; this system has {have}",
                "{required_by|name} uses packed relocations, which an older C library than {needs} ignores",
                "a library uses packed relocations, which need glibc 2.36"},
     .remedies = {newer_system, "publisher: link with -z nopack-relative-relocs"}},
    {.name = {"EH-L11", "library taken from another folder"},
     .meaning = "The environment (LD_LIBRARY_PATH, conda) or the process has a library with the same name as "
                "one of the build or the system, and the loader would take it first.",
     .before = "the closure with and without the environment",
     .after = "where each library was really loaded from",
     .causes = {"another {library} is at {path}, and the loader would take it; EngineHost opens {wanted} "
                "first{?mended}",
                "{library} came from {path} ({by}) instead of {wanted}",
                "{library} came from {path} instead of {wanted}",
                "LD_LIBRARY_PATH leads to {path} for {library}, instead of {wanted}",
                "{library} came from {path}, a folder of {from_environment}",
                "{library} would come from {path}",
                "a library of the same name is found first in another folder"},
     .remedies = {"nothing to do: the build's own file is opened first{?mended}",
                  "{by=LD_PRELOAD}start the program without LD_PRELOAD",
                  "start the program without LD_LIBRARY_PATH (outside the conda environment)"}},
    {.name = {"EH-L12", "symbol missing"},
     .meaning = "A library needs a function or variable that none of its libraries offers: it was built "
                "against another version of one of them.",
     .before = "the symbol pass over the closure",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} needs {symbol...}, which only {lent_by} of this process offers; the loader "
          "finds it there only if the program was linked with that library or opened it with RTLD_GLOBAL",
          "{required_by|name} needs {symbol...} of {library}; {expected_in} does not offer it, and {wanted} "
          "does",
          "{required_by|name} needs {symbol...} ({demangled...}) of {expected_in}, which does not offer it",
          "{required_by|name} needs {symbol...} of {expected_in}, which does not offer it",
          "{required_by|name} needs {symbol...} ({demangled...}), which none of its libraries offers",
          "{required_by|name} needs {symbol...}, which none of its libraries offers",
          "{file} needs {symbol} ({demangled}), which none of its libraries offers",
          "{file} needs {symbol}, which none of its libraries offers", "a symbol was not found: {os_said}",
          "none of the libraries offers a needed function or variable"},
     .remedies = {installed_twice, take_other_file, without_variable, "install {last_release}",
                  "{?expected_in}{!from_environment}{!wanted}{!last_release}{!installed_by}install the "
                  "release of {library} with which {required_by|name} was built, or a build of "
                  "{required_by|name} for this release",
                  "{!expected_in}use another version of the build: the libraries of this one do not fit "
                  "together",
                  "{!expected_in}if {library} comes from LD_LIBRARY_PATH, start the program without it; if "
                  "it comes from the system, use a build that includes its own",
                  "{!expected_in}engine-cache verify checks the files against those published"}},
    {.name = {"EH-L13", "symbol missing at the first call"},
     .meaning =
         "A function bound lazily was not there when it was called; the process ended with status 127.",
     .before = "the symbol pass over the closure",
     .after = "status 127 and \"symbol lookup error\"",
     .causes = {"{file|name} called {symbol} ({demangled}), which none of its libraries offers",
                "{file|name} called {symbol}, which none of its libraries offers", "{os_said}",
                "none of the libraries offers a function that was called"},
     .remedies = {"use another version of the build: the libraries of this one do not fit together"}},
    {.name = {"EH-L14", "variable missing"},
     .meaning = "A library needs a variable that none of its libraries offers.",
     .before = "the symbol pass over the closure",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} needs the variable {symbol} of {library}; {expected_in} does not offer it",
          "{required_by|name} needs the variable {symbol} ({demangled}), which none of its libraries offers",
          "{required_by|name} needs the variable {symbol}, which none of its libraries offers",
          "none of the libraries offers a needed variable"},
     .remedies = {installed_twice, take_other_file, without_variable,
                  "use another version of the build: the libraries of this one do not fit together"}},
    {.name = {"EH-L15", "library lacks a needed symbol version"},
     .meaning = "A library of the right name was found, but it does not have the needed symbol version.",
     .before = "DT_VERNEED against DT_VERDEF; the symbol pass",
     .after = "\"version … not found\", \"undefined symbol …, version …\"",
     .causes =
         {"{required_by|name} needs {version...} of {library}; {unversioned} was built without symbol "
          "versions, and the loader would end the process",
          "{required_by|name} needs {symbol...} of {library}; {path} does not offer it, and {wanted} does",
          "{required_by|name} needs {symbol...} of {library}; {path} does not offer it",
          "{required_by|name} needs {version...} of {library}; {path} does not have it",
          "{required_by|name} needs {symbol...} ({demangled...}) of {library}; the one found is an "
          "older build",
          "{required_by|name} needs {symbol...} of {library}; the one found is an older build",
          "a library does not have a needed symbol version"},
     .remedies = {restore_link,
                  "{?from_environment}remove the folder of {path} from LD_LIBRARY_PATH, so that {wanted} is "
                  "found",
                  "{!from_environment}open {wanted} first by its path, or put its folder first in "
                  "LD_LIBRARY_PATH",
                  "{!wanted}install a newer {library}: {provided_by...}",
                  "{?from_environment}{!wanted}remove the folder of {path} from LD_LIBRARY_PATH, so that "
                  "another {library|name} is found",
                  "{?path}{!from_environment}{!wanted}update the package that installed {path}, or use "
                  "another version of the build",
                  "{!path}remove folders with another {library|name} from LD_LIBRARY_PATH, so that the "
                  "build's own or the system's is found, or install a newer one",
                  "{!library}remove folders with other libraries from LD_LIBRARY_PATH, so that the build's "
                  "own are found, or install newer ones",
                  "see which file the loader takes: engine-info --inspect {required_by|word}"}},
    {.name = {"EH-L16", "symbol of the host program missing"},
     .meaning = "The library expects functions of the program that loads it (a Node, Python or R extension).",
     .before = "undefined symbols that no library of the closure offers",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} expects {symbol} from the program itself: it is an extension of {program}",
          "{required_by|name} expects {symbol} from the program itself: it is an extension of another "
          "program",
          "the library expects functions from the program itself: it is an extension of another program"},
     .remedies = {"use the build's plugin: this file is not an engine plugin"}},
    {.name = {"EH-L17", "another file of the same library is already loaded"},
     .meaning =
         "The process has already loaded a library with that SONAME from another file, and the loader "
         "uses it for every later need. Or it has loaded another copy of a C++ library, under any name, "
         "and the loader lets both work on the same objects (STB_GNU_UNIQUE), which ends the program.",
     .before = "the closure's SONAMEs against those in the process; unique symbols of the build's libraries "
               "against those that the process has loaded",
     .after = "where each library was really loaded from",
     .causes =
         {"{library} is already loaded from {path} as {loaded_as}; a second copy would work on the objects "
          "of the first{?shares}",
          "{library} of {loaded_release} is already loaded from {path}; a copy of {release} would work on "
          "the objects of the first{?shares}",
          "{library} is already loaded from {path}, of an unknown release; a copy of {release} would work on "
          "the objects of the first{?shares}{!differs}",
          "another build of {library} is already loaded from {path}; a copy of {release} would work on the "
          "objects of the first{?shares}",
          "{library} is already loaded from {path}, left by {left_by}, which failed to load; the build "
          "needs {wanted}",
          "{library} is already loaded from {path} for {held_by}; {stand_in_of} has a stand-in for it, and "
          "a process has one file of a name",
          "{library} is already loaded from {path}; {stand_in_of} has a stand-in for it, and a process has "
          "one file of a name",
          "{library} is already loaded from {path} for {held_by}, and {needed_by...} would get it "
          "instead of {wanted}",
          "{library} is already loaded from {path}, and it lacks {symbol...}, which {required_by|name} "
          "needs from {wanted}",
          "{library} is already loaded from {path}; the build needs {wanted}",
          "the process has already loaded another file with that library's name"},
     .remedies =
         {"restart the program: the next open will choose {next_open}",
          "restart the program{?left_by}{!next_open}", "open this engine in a process of its own{?held_by}",
          "open this engine in a process of its own{?shares}{!held_by}",
          "request release {loaded_release}, which can use the loaded file, if a repository offers it",
          "{?stand_in_of}{!held_by}open this engine in a process of its own, without {library}",
          "open this engine before the other library is loaded, or in a process of its "
          "own{!left_by}{!held_by}{!stand_in_of}{!shares}"},
     // Concerns this process only, so nothing is recorded about the build.
     .category = Category::request},
    {.name = {"EH-L18", "no link namespace left"},
     .meaning = "The loader's namespaces (dlmopen) are used up.",
     .after = "\"no more namespaces available for dlmopen()\"",
     .causes = {"the process has used all link namespaces of the loader"},
     .remedies = {"open engines in processes of their own"}},
    {.name = {"EH-L19", "no static thread-local storage left"},
     .meaning = "A library needs static thread-local storage, which the loader reserves at program start, "
                "and the reserve is used up.",
     .before = "DF_STATIC_TLS, and size and alignment of PT_TLS over the closure",
     .after = "\"cannot allocate memory in static TLS block\"",
     .causes = {"{library|name} needs static thread-local storage aligned to {alignment} bytes; the reserve "
                "of this process is aligned to {most_alignment} at most",
                "{file|name} and its libraries need {static_tls|bytes} of static thread-local storage; a "
                "process reserves {reserve|bytes} for libraries opened after its start",
                "{file|name} needs static thread-local storage, and the reserve of this process is used up",
                "the reserve of static thread-local storage of this process is used up"},
     .remedies =
         {"start the program with GLIBC_TUNABLES=glibc.rtld.optional_static_tls={optional_static_tls}",
          "{!optional_static_tls}{!alignment}start the program with "
          "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=131072, or more",
          "{!alignment}open this engine before other libraries",
          "{?alignment}ask the publisher to compile variables with such an alignment without "
          "-ftls-model=initial-exec",
          "{?alignment}link the program with {library}, so that it is loaded at the start"}},
    {.name = {"EH-L20", "library needs an executable stack"},
     .meaning = "The file is marked as needing an executable stack. glibc from 2.41 on and hardened systems "
                "refuse it; older ones make the stack executable.",
     .before = "PT_GNU_STACK, and the version of glibc",
     .after = "\"cannot enable executable stack as shared object requires\"",
     .causes = {"{file|name} is marked as needing an executable stack, and glibc {have} does not make the "
                "stack executable for a library",
                "{file|name} is marked as needing an executable stack",
                "{library|name} is marked as needing an executable stack",
                "a library is marked as needing an executable stack"},
     .remedies = {"use a build that needs no executable stack, or ask the publisher for one",
                  "start the program with GLIBC_TUNABLES=glibc.rtld.execstack=2, which makes all its stacks "
                  "executable (from glibc 2.42 on, and in 2.41 if the distribution added it; this is {have})",
                  "publisher: link with -Wl,-z,noexecstack, or patchelf --clear-execstack"}},
    {.name = {"EH-L21", "library changes its own code"},
     .meaning = "The file has text relocations; hardened systems refuse to make code writable.",
     .before = "DT_TEXTREL, or DF_TEXTREL in DT_FLAGS",
     .after = "\"cannot make segment writable for relocation\"",
     .causes = {"{file|name} has text relocations", "{library|name} has text relocations",
                "a library has text relocations"},
     .remedies = {"publisher: compile with -fPIC"},
     .category = Category::policy},
    {.name = {"EH-L22", "folder is mounted noexec"},
     .meaning = "The cache, or a library that the build finds outside it, is on a file system mounted "
                "noexec. No library can be loaded from there.",
     .before = "mount flags, and a trial mapping of one page",
     .after = "\"failed to map segment from shared object\"",
     .causes = {"{needed_by|name} needs {library}, which is in {folder}, on a file system mounted noexec "
                "({mount_point})",
                "{folder} is on a file system mounted noexec ({mount_point})",
                "{folder} is on a file system mounted noexec",
                "the cache is on a file system mounted noexec"},
     .remedies = {"{!library}{!read_only_layer}set ENGINEHOST_CACHE to a folder on a file system that is not "
                  "mounted noexec",
                  "{?needed_by}put {library} on a file system that is not mounted noexec",
                  "as root: mount -o remount,exec {mount_point|word}", without_layer},
     .category = Category::policy},
    {.name = {"EH-L23", "not enough memory or address space for the library"},
     .meaning = "The libraries need more memory than the process may have, or the system had none left.",
     .before = "sum of the segments against RLIMIT_AS",
     .after = "\"Cannot allocate memory\", or \"failed to map segment from shared object\" and a trial "
              "mapping gives ENOMEM",
     .causes =
         {"{file|name} needs {needed|bytes} of address space; the limit of this process is {limit|bytes}",
          "{file|name} needs up to {needed|bytes} of memory; the data limit of this process is "
          "{data_limit|bytes}",
          "{largest|name} cannot be mapped: its segments need {zero_filled|bytes} of memory beyond the "
          "file's contents, and the system refuses it ({os_said})",
          "{file|name} needs {needed|bytes}; this machine or container has {memory|bytes}",
          "{file|name} could not be mapped: {os_said}",
          "the libraries need more memory than the process may have"},
     .remedies =
         {"raise the limit: ulimit -v unlimited{?limit}", "raise the limit: ulimit -d unlimited{?data_limit}",
          "{!limit}{!data_limit}{!memory}{!zero_filled}close other programs, or raise the limits of this "
          "one: memory of the container or job, vm.max_map_count, vm.overcommit_memory",
          "{?memory}free memory, or raise the limit of the container",
          "{?zero_filled}report it to the publisher, if the library is not meant to need so much memory"}},
    {.name = {"EH-L24", "security policy forbids loading the library"},
     .meaning = "SELinux, fapolicyd, a seccomp filter or the like refuses to map the file as code.",
     .before = "a trial mapping of one page",
     .after = "\"failed to map segment from shared object\", \"Operation not permitted\"",
     .causes = {"the system refuses to map {file} as code: {os_said}",
                "the system refuses to map the file as code"},
     .remedies =
         {"ask the administrator to allow {folder} (ausearch -m avc shows the rule on SELinux systems)",
          "{!library}{!read_only_layer}set ENGINEHOST_CACHE to a folder from which code may run",
          without_layer},
     .category = Category::policy},
};

}  // namespace linking_table

Table linking_entries() { return {linking_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
