// EH-L: bringing libraries together on Linux.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;

constexpr std::string_view newer_system =
    "use a build for older systems (engine-info ENGINE --plan --explain lists them) or a newer operating "
    "system; "
    "never copy "
    "another system's C library here";

// Of a DT_NEEDED with a slash in it, which is searched for nowhere.
constexpr std::string_view by_current_folder =
    "{needed_by|name} needs {library}, which begins at the current folder, {current_folder}: {tried} is not "
    "there";
constexpr std::string_view by_path = "{needed_by|name} needs {library}: {tried} is not there";
constexpr std::string_view needed_by_name =
    "{?tried}publisher: let it be needed by its name alone, and found: patchelf --replace-needed "
    "{library|word} "
    "{library|name} {needed_by|name}, and a RUNPATH from $ORIGIN";
constexpr std::string_view without_layer =
    "{!library}{?read_only_layer}take {read_only_layer} out of \"system_layers\" of the configuration";

constexpr Entry entries[] = {
    {.code = "EH-L01",
     .title = "library missing",
     .meaning = "A library that a file names as needed is in none of the folders the loader searches.",
     .before = "the closure of the file, searched as the loader would",
     .after = "\"cannot open shared object file\", held against the files",
     .causes = {by_current_folder, by_path,
                "{+library}{library...} are needed by {needed_by|name} but are in none of the folders the "
                "loader searches",
                "{library...} is needed by {needed_by|name} but is not in any folder the loader searches",
                "{library...} is needed but is not in any folder the loader searches",
                "a needed library was not found: {os_said}",
                "a needed library is in none of the folders the loader searches"},
     .remedies =
         {"{!tried}install what provides it: {provided_by...}",
          "{!tried}put {library...} into a folder the loader searches, or use a build that brings it",
          needed_by_name, "{?tried}{!current_folder}put {tried|name} there, or use a build that brings it",
          "{!library}engine-info --inspect FILE lists every library that is missing and who needs it"}},
    {.code = "EH-L02",
     .title = "library of a library missing",
     .meaning = "A library that is needed only indirectly is in none of the folders the loader searches.",
     .before = "the closure of the file, searched as the loader would",
     .after = "\"cannot open shared object file\", held against the files",
     .causes =
         {by_current_folder, by_path,
          "{+library}{library...} are needed by {needed_by|name} (through {chain...|name}) but are in none "
          "of the folders the loader searches",
          "{library...} is needed by {needed_by|name} (through {chain...|name}) but is not in any folder the "
          "loader searches",
          "{library...} is needed by {needed_by|name} but is not in any folder the loader searches",
          "a library that is needed indirectly is in none of the folders the loader searches"},
     .remedies =
         {"{!tried}install what provides it: {provided_by...}",
          "{!tried}put {library...} into a folder the loader searches, or use a build that brings it",
          needed_by_name, "{?tried}{!current_folder}put {tried|name} there, or use a build that brings it",
          "{!library}engine-info --inspect FILE lists every library that is missing and who needs it"}},
    {.code = "EH-L03",
     .title = "library present but not where the loader looks",
     .meaning =
         "The file is in the build, but the library that needs it has no RUNPATH to it (a RUNPATH is not "
         "inherited). EngineHost opens such libraries by absolute path first.",
     .before = "the closure with and without opening the build's own libraries first",
     .after = "\"cannot open shared object file\", although the file exists",
     .causes = {"{needed_by|name} needs {library}, which begins at the current folder: {tried} is not there, "
                "it lies at {present_at}",
                "{library} for {needed_by|name} lies at {present_at}, where the loader does not look",
                "a needed library lies in the build, but where the loader does not look"},
     .remedies = {needed_by_name, "nothing to do: it is opened by its absolute path{?mended}",
                  "{!tried}publisher: link {needed_by|name} with -Wl,-rpath,'$ORIGIN'",
                  "{!mended}{!needed_by}open the library by its absolute path first"}},
    {.code = "EH-L04",
     .title = "library for another processor",
     .meaning =
         "The file is built for another processor. The loader says \"No such file or directory\" of it.",
     .before = "e_machine of the file against this machine",
     .after = "\"cannot open shared object file\", although the file exists",
     .causes = {"{file} is built for {built_for}, this machine is {machine}",
                "{file} is built for another processor", "the file is built for another processor"},
     .remedies =
         {"use the build for {machine}; engine-info ENGINE --plan --explain lists them",
          "{!machine}use the build for this processor; engine-info ENGINE --plan --explain lists them"}},
    {.code = "EH-L05",
     .title = "needed library is for another processor",
     .meaning = "The only file of that name in the loader's folders is built for another processor; the "
                "loader skips it "
                "and says \"No such file or directory\".",
     .before = "every candidate of the search, also those not taken",
     .after = "\"cannot open shared object file\", although a file of that name exists",
     .causes = {"{library} for {needed_by|name} was found at {path}, but it is built for {built_for}, this "
                "machine is "
                "{machine}",
                "{library} for {needed_by|name} was found, but it is built for {built_for}, this machine is "
                "{machine}",
                "the needed library that was found is built for another processor"},
     .remedies =
         {"install what provides {library} for {machine}: {provided_by...}",
          "install {library} for {machine}, or take the folder with the other one off the search path",
          "{!library}use the build for this processor, and take folders of other processors off the search "
          "path"}},
    {.code = "EH-L06",
     .title = "library of another word size",
     .meaning =
         "A 32-bit file where 64 bits are needed, or the reverse. In a folder that it searches the loader "
         "passes over such a file, and fails when no other is found; opened by its path it is refused.",
     .before = "EI_CLASS of every candidate",
     .after = "\"wrong ELF class\"",
     .causes = {"{library} for {needed_by|name} was found at {path}, but it is {built_for}, this process is "
                "{machine}",
                "{file} is {built_for}, this process is {machine}", "{file} is of another word size",
                "the file is of another word size"},
     .remedies = {"{found_by=LD_LIBRARY_PATH}take the folder with the {built_for_bits}-bit {library} off "
                  "LD_LIBRARY_PATH",
                  "{found_by=RUNPATH}tell the publisher: {needed_by|name} looks for {library} where a "
                  "{built_for_bits}-bit one lies",
                  "{found_by=RPATH}tell the publisher: {needed_by|name} looks for {library} where a "
                  "{built_for_bits}-bit one lies",
                  "install what provides the {machine_bits}-bit {library}: {provided_by...}",
                  "install the {machine_bits}-bit {library} where the loader looks",
                  "{!library}use the {machine_bits}-bit build",
                  "{!library}{!machine_bits}use the build of this process's word size"}},
    {.code = "EH-L07",
     .title = "library of a foreign ELF variety",
     .meaning = "The file's OS ABI, byte order or ELF version is not this system's.",
     .before = "e_ident",
     .after = "\"ELF file OS ABI invalid\", \"ELF file data encoding not little-endian\"",
     .causes = {"{file} is made for {os_abi}, not for this system", "{file}: {problem}",
                "the file is made for another system"},
     .remedies = {"use the build for this operating system"}},
    {.code = "EH-L08",
     .title = "C library too old",
     .meaning =
         "A library was built on a newer system than this one and needs newer functions of the C library.",
     .before = "DT_VERNEED against the versions the C library defines",
     .after = "\"version `GLIBC_…' not found\"",
     .causes = {"{required_by|name} needs {needs}; {path} has {have}",
                "the build needs glibc {required}; this system has {found}",
                "{required_by|name} needs {version} of {library}, which this system's does not have",
                "the C library of this system is older than the build needs"},
     .remedies = {newer_system}},
    {.code = "EH-L09",
     .title = "C++ runtime too old",
     .meaning =
         "A library was built with a newer compiler than the C++ runtime (libstdc++) that would be found.",
     .before = "DT_VERNEED against the versions of the libstdc++ that would be found",
     .after = "\"version `GLIBCXX_…' not found\"",
     .causes = {"{required_by|name} needs {needs}; {path} has {have}",
                "the build needs {required}; the libstdc++ found here has {found}",
                "{required_by|name} needs {version} of {library}, which the one found here does not have",
                "the C++ runtime is older than the build needs"},
     .remedies = {"start without LD_LIBRARY_PATH: {path} hides the system's newer one{?from_environment}",
                  "install a newer libstdc++6, or use a build for older systems"}},
    {.code = "EH-L10",
     .title = "packed relocations on an old C library",
     .meaning = "The file uses DT_RELR, which glibc knows since 2.36.",
     .before = "DT_RELR; DT_VERNEED: GLIBC_ABI_DT_RELR",
     .after = "\"version `GLIBC_ABI_DT_RELR' not found\", \"DT_RELR without GLIBC_ABI_DT_RELR dependency\"",
     .causes =
         {"{required_by|name} uses packed relocations and does not ask for {unmarked}, as glibc demands",
          "{required_by|name} uses packed relocations, which need glibc 2.36; this system has {have}",
          "{required_by|name} uses packed relocations, which an older C library than {needs} ignores",
          "a library uses packed relocations, which need glibc 2.36"},
     .remedies = {newer_system, "publisher: link with -z nopack-relative-relocs"}},
    {.code = "EH-L11",
     .title = "library taken from elsewhere",
     .meaning = "The environment (LD_LIBRARY_PATH, conda) or the process itself offers a library of the same "
                "name as "
                "one of the build, or of the system, and it would be taken first.",
     .before = "the closure with and without the environment",
     .after = "where each library was really loaded from",
     .causes =
         {"another {library} lies at {path}, which a program without EngineHost would take; here {wanted} is "
          "opened first{?mended}",
          "{library} came from {path} ({by}) instead of {wanted}",
          "{library} came from {path} instead of {wanted}",
          "LD_LIBRARY_PATH offers {path} for {library}, in place of {wanted}",
          "{library} came from {path}, a folder of {from_environment}", "{library} would come from {path}",
          "a library of the same name is found elsewhere first"},
     .remedies = {"nothing to do: the build's own file is opened first{?mended}",
                  "{by=LD_PRELOAD}start the program without LD_PRELOAD",
                  "start the program without LD_LIBRARY_PATH (outside the conda environment)"}},
    {.code = "EH-L12",
     .title = "symbol missing",
     .meaning =
         "A library wants a function or variable that none of the libraries it names offers: it was built "
         "against another version of one of them.",
     .before = "the symbol pass over the closure",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} needs {symbol...}, which only {lent_by} offers, a library of this process; "
          "it is found there only if the program was linked with it or opened it for all (RTLD_GLOBAL)",
          "{required_by|name} needs {symbol...} ({demangled...}) of {expected_in}, which does not offer it",
          "{required_by|name} needs {symbol...} of {expected_in}, which does not offer it",
          "{required_by|name} needs {symbol...} ({demangled...}), which none of its libraries offers",
          "{required_by|name} needs {symbol...}, which none of its libraries offers",
          "{file} needs {symbol} ({demangled}), which none of its libraries offers",
          "{file} needs {symbol}, which none of its libraries offers", "a symbol was not found: {os_said}",
          "a function or variable is needed that none of the libraries offers"},
     .remedies = {"the libraries of this build do not fit together: use another version of the build",
                  "if {library} comes from the system or LD_LIBRARY_PATH, let the build's own be found first",
                  "engine-cache verify checks that the files are those that were published"}},
    {.code = "EH-L13",
     .title = "symbol missing at the first call",
     .meaning =
         "A function bound lazily was not there when it was called; the process ended with status 127.",
     .before = "the symbol pass over the closure",
     .after = "status 127 and \"symbol lookup error\"",
     .causes = {"{file|name} called {symbol} ({demangled}), which none of its libraries offers",
                "{file|name} called {symbol}, which none of its libraries offers", "{os_said}",
                "a function was called that none of the libraries offers"},
     .remedies = {"the libraries of this build do not fit together: use another version of the build"}},
    {.code = "EH-L14",
     .title = "variable missing",
     .meaning = "A library wants a variable that none of its libraries offers.",
     .before = "the symbol pass over the closure",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} needs the variable {symbol} ({demangled}), which none of its libraries offers",
          "{required_by|name} needs the variable {symbol}, which none of its libraries offers",
          "a variable is needed that none of the libraries offers"},
     .remedies = {"the libraries of this build do not fit together: use another version of the build"}},
    {.code = "EH-L15",
     .title = "library lacks a version that is needed",
     .meaning =
         "A library of the right name was found, but it does not have the symbol version that is needed.",
     .before = "DT_VERNEED against DT_VERDEF; the symbol pass",
     .after = "\"version … not found\", \"undefined symbol …, version …\"",
     .causes =
         {"{required_by|name} needs {version...} of {library}; {unversioned} was built without versions, "
          "and the loader would end the process",
          "{required_by|name} needs {version...} of {library}; {path} does not have it",
          "{required_by|name} needs {symbol...} ({demangled...}) of {library}; what was found is an older "
          "build of it",
          "{required_by|name} needs {symbol...} of {library}; what was found is an older build of it",
          "a library does not have a version that is needed"},
     .remedies =
         {"install a newer {library}: {provided_by...}",
          "{?from_environment}take the folder of {path} out of LD_LIBRARY_PATH, so that another "
          "{library|name} is found",
          "{?path}{!from_environment}use another version of the build, or update the package that {path} "
          "is of",
          "{!path}take folders with another {library|name} out of LD_LIBRARY_PATH, so that the build's own "
          "or the system's is found, or install a newer one",
          "{!library}take folders with other libraries out of LD_LIBRARY_PATH, so that the build's own are "
          "found, or install newer ones",
          "see which file is taken for it: engine-info --inspect {required_by|word}"}},
    {.code = "EH-L16",
     .title = "symbol of the host program missing",
     .meaning = "The library expects functions of the program that loads it (a Node, Python or R extension).",
     .before = "undefined symbols that no library of the closure offers",
     .after = "\"undefined symbol\"",
     .causes =
         {"{required_by|name} expects {symbol} from the program itself: it is an extension of {program}",
          "{required_by|name} expects {symbol} from the program itself: it is an extension of another "
          "program",
          "functions are expected from the program itself: this is an extension of another program"},
     .remedies = {"this file is not an engine plugin; use the build's plugin"}},
    {.code = "EH-L17",
     .title = "another version of a library is loaded already",
     .meaning = "The process has a library of that SONAME, from another file; the loader serves every later "
                "need with it.",
     .before = "the closure's SONAMEs against those in the process",
     .after = "where each library was really loaded from",
     .causes = {"{library} is in this process already, from {path}, left there by {left_by}, which failed to "
                "load; the "
                "build wants {wanted}",
                "{library} is in this process already, from {path}, brought by {held_by}, and would serve "
                "{needed_by...} in place of {wanted}",
                "{library} is in the process already, from {path}, and lacks {symbol...}, which "
                "{required_by|name} needs of "
                "{wanted}",
                "{library} is in the process already, from {path}; the build wants {wanted}",
                "the process holds another file of that library's name already"},
     .remedies = {"restart the program: the next open will choose {next_open}",
                  "restart the program{?left_by}{!next_open}",
                  "open this engine in a process of its own{?held_by}",
                  "open this engine before the other library is loaded, or in a process of its "
                  "own{!left_by}{!held_by}"},
     // Of this process and no other: nothing is remembered of it.
     .category = Category::request},
    {.code = "EH-L18",
     .title = "no more link namespaces",
     .meaning = "The loader's namespaces (dlmopen) are used up.",
     .after = "\"no more namespaces available for dlmopen()\"",
     .causes = {"the process has used all namespaces of the loader"},
     .remedies = {"open engines in processes of their own"}},
    {.code = "EH-L19",
     .title = "no room for static thread-local storage",
     .meaning = "A library wants thread-local memory of the kind that is set aside at program start, and it "
                "is used up.",
     .before = "DF_STATIC_TLS, and size and alignment of PT_TLS over the closure",
     .after = "\"cannot allocate memory in static TLS block\"",
     .causes = {"{library|name} wants static thread-local storage aligned to {alignment} bytes; a process "
                "aligns what it sets aside for what it holds at its start, here to {most_alignment} at most",
                "{file|name} and its libraries want {static_tls|bytes} of static thread-local storage; a "
                "process sets {reserve|bytes} aside for libraries that are opened later",
                "{file|name} wants static thread-local storage, and what the process set aside is used up",
                "the process has no more static thread-local storage to give"},
     .remedies =
         {"start the program with GLIBC_TUNABLES=glibc.rtld.optional_static_tls={optional_static_tls}",
          "{!optional_static_tls}{!alignment}start the program with "
          "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=131072, or more",
          "{!alignment}open this engine before other libraries",
          "{?alignment}tell the publisher: variables with such an alignment must not be compiled with "
          "-ftls-model=initial-exec",
          "{?alignment}link the program with {library}, so that it is there from the start"}},
    {.code = "EH-L20",
     .title = "library wants an executable stack",
     .meaning = "The file is marked as needing an executable stack; glibc from 2.41 on and hardened systems "
                "refuse it, older ones make the stack executable.",
     .before = "PT_GNU_STACK, and the version of glibc",
     .after = "\"cannot enable executable stack as shared object requires\"",
     .causes = {"{file|name} is marked as needing an executable stack, and glibc {have} makes no stack "
                "executable for a library",
                "{file|name} is marked as needing an executable stack",
                "{library|name} is marked as needing an executable stack",
                "a library is marked as needing an executable stack"},
     .remedies =
         {"use a build that needs no executable stack, or ask the publisher for one",
          "start the program with GLIBC_TUNABLES=glibc.rtld.execstack=2, which makes all its stacks "
          "executable (from glibc 2.42 on, and in 2.41 where a distribution added it; this is {have})",
          "publisher: link with -Wl,-z,noexecstack, or patchelf --clear-execstack"}},
    {.code = "EH-L21",
     .title = "library changes its own code",
     .meaning = "The file has text relocations; hardened systems refuse to make code writable.",
     .before = "DT_TEXTREL, or DF_TEXTREL in DT_FLAGS",
     .after = "\"cannot make segment writable for relocation\"",
     .causes = {"{file|name} has text relocations", "{library|name} has text relocations",
                "a library has text relocations"},
     .remedies = {"publisher: compile with -fPIC"},
     .category = Category::policy},
    {.code = "EH-L22",
     .title = "folder does not allow code",
     .meaning = "The cache, or a library that the build finds outside it, lies on a file system mounted "
                "noexec, from which no library can be loaded.",
     .before = "mount flags, and a trial mapping of one page",
     .after = "\"failed to map segment from shared object\"",
     .causes = {"{library} for {needed_by|name} is found in {folder}, which is on a file system mounted "
                "noexec ({mount_point})",
                "{folder} is on a file system mounted noexec ({mount_point})",
                "{folder} is on a file system mounted noexec",
                "the cache lies on a file system mounted noexec"},
     .remedies =
         {"{!library}{!read_only_layer}set ENGINEHOST_CACHE to a folder on a file system that allows code",
          "{?needed_by}have another {library} found, on a file system that allows code",
          "have {mount_point} mounted again with exec", without_layer},
     .category = Category::policy},
    {.code = "EH-L23",
     .title = "no address space or memory for the library",
     .meaning =
         "The limit on the process's memory is smaller than the libraries, or the system had none left.",
     .before = "sum of the segments against RLIMIT_AS",
     .after = "\"Cannot allocate memory\", or \"failed to map segment from shared object\" and a trial "
              "mapping gives ENOMEM",
     .causes =
         {"{file|name} needs {needed|bytes} of address space, the limit of this process is {limit|bytes}",
          "{file|name} needs up to {needed|bytes} of memory, and of data this process may have "
          "{data_limit|bytes}",
          "{largest|name} cannot be mapped: its segments want {zero_filled|bytes} of memory beside what is "
          "in "
          "the "
          "file, which the system refuses ({os_said})",
          "{file|name} needs {needed|bytes}, this machine or container has {memory|bytes}",
          "{file|name} could not be mapped: {os_said}",
          "the limit on the process's memory is smaller than the libraries"},
     .remedies =
         {"raise the limit: ulimit -v unlimited{?limit}", "raise the limit: ulimit -d unlimited{?data_limit}",
          "{!limit}{!data_limit}{!memory}{!zero_filled}end other programs, or raise what this one may "
          "have: a container's or a job's memory, vm.max_map_count, vm.overcommit_memory",
          "{?memory}free memory, or raise the limit of the container",
          "{?zero_filled}tell the publisher, if the file is not meant to be so large"}},
    {.code = "EH-L24",
     .title = "security policy forbids loading the library",
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
    {.code = "EH-L25",
     .title = "no permission to read the library",
     .meaning = "The file, or a folder on the way to it, may not be read by this user.",
     .before = "access to each part of the path",
     .after = "\"Permission denied\"",
     .causes = {"{file} may not be read: {blocked_by} is closed to this user",
                "{file} may not be read by this user",
                "the file, or a folder on the way to it, may not be read by this user"},
     .remedies = {"let its owner run: chmod a+rX {blocked_by|word}",
                  "{!read_only_layer}set ENGINEHOST_CACHE to a folder of this user", without_layer},
     .category = Category::policy},
    {.code = "EH-L26",
     .title = "out of file descriptors, or an input error",
     .meaning = "The process has too many files open, or the disk failed to read.",
     .after = "\"Too many open files\", \"Input/output error\"",
     .causes = {"{file} could not be read now: {os_said}", "the file could not be read now"},
     .remedies = {"raise the limit (ulimit -n), or look at the disk", "try again"},
     .category = Category::transient},
    {.code = "EH-L27",
     .title = "processor too old",
     .meaning = "The build uses instructions this processor does not have.",
     .before = "the manifest's cpu features and the file's ISA marker against the processor",
     .after = "\"CPU ISA level is lower than required\", SIGILL",
     .causes = {"{required_by|name} needs {needs}; this processor has {have}",
                "the build needs {required}; this processor has {found}",
                "the build needs a newer processor"},
     .remedies = {"use a build for this processor: engine-info ENGINE --plan --explain lists them"}},
    {.code = "EH-L28",
     .title = "built for musl",
     .meaning = "The library belongs to a system with the musl C library (Alpine); this one has glibc.",
     .before = "DT_NEEDED libc.musl-… or libc.so",
     .after = "\"libc.so: invalid ELF header\"",
     .causes = {"{needed_by|name} needs {library}: it is built for musl (Alpine), this system has glibc",
                "the build is for musl (Alpine), this system has glibc"},
     .remedies = {"use the build for glibc"}},
    {.code = "EH-L29",
     .title = "built for glibc",
     .meaning = "The library belongs to a system with the GNU C library; this one has musl.",
     .before = "version needs GLIBC_…",
     .after = "\"Error relocating …: symbol not found\"",
     .causes = {"{needed_by|name} needs {library}: it is built for glibc, this system has musl",
                "{file|name}: {problem}", "the build is for glibc, this system has musl"},
     .remedies = {"use the build for musl", "the package gcompat runs some of them"}},
    {.code = "EH-L30",
     .title = "LD_LIBRARY_PATH is ignored",
     .meaning = "The program is set-uid or has file capabilities: the loader ignores its environment.",
     .before = "AT_SECURE",
     .causes = {"{library} lies at {present_at}, but the program runs with raised privileges, so "
                "LD_LIBRARY_PATH is ignored",
                "the program runs with raised privileges, so LD_LIBRARY_PATH is ignored"},
     .remedies = {"take the capabilities off the program, or install the library in a system folder"}},
    {.code = "EH-L31",
     .title = "LD_LIBRARY_PATH changed too late",
     .meaning = "The loader reads the variable at program start; changing it later has no effect.",
     .causes = {"{library...} lies at {present_at}, a folder of LD_LIBRARY_PATH, which was changed after the "
                "program started",
                "LD_LIBRARY_PATH was changed after the program started"},
     .remedies = {"set it before the program starts, or not at all"}},
    {.code = "EH-L32",
     .title = "what is found depends on the current folder",
     .meaning =
         "An empty element of RUNPATH or LD_LIBRARY_PATH means the current folder, and a path in DT_NEEDED "
         "or "
         "RUNPATH that does not begin with a slash begins there: what is loaded depends on where the program "
         "was started.",
     .before = "RUNPATH, DT_NEEDED and LD_LIBRARY_PATH",
     .causes = {"{file|name} needs {library}, which begins at the current folder, here {folder}",
                "{file|name} has {element} in its search path, which begins at the current folder, here "
                "{folder}",
                "{file|name} has an empty element in its search path, which means the current folder",
                "a search path has an empty element, which means the current folder"},
     .remedies = {"{!library}{!element}take the empty element out (a colon at the beginning or end)",
                  "{?element}publisher: let it begin with $ORIGIN or a slash",
                  "publisher: let it be needed by its name alone, and found: patchelf --replace-needed "
                  "{library|word} {library|name} {file|name}, and a RUNPATH from $ORIGIN"},
     .category = Category::request},
    {.code = "EH-L33",
     .title = "path the loader cannot take",
     .meaning =
         "The path is too long, or holds a colon or semicolon where the loader separates folders with them.",
     .after = "\"File name too long\"",
     .causes = {"{library} lies at {present_at}, but {problem}",
                "{file} cannot be given to the loader: {problem}", "the path is too long for the loader"},
     .remedies = {"set ENGINEHOST_CACHE to a shorter, plain path"}},
    {.code = "EH-L34",
     .title = "LD_PRELOAD names a file that cannot be loaded",
     .meaning = "The loader says so at every program start and goes on.",
     .after = "\"cannot be preloaded … ignored\"",
     .causes = {"LD_PRELOAD names {library}, which cannot be loaded",
                "LD_PRELOAD names a file that cannot be loaded"},
     .remedies = {"unset LD_PRELOAD"},
     .category = Category::request},
    {.code = "EH-L35",
     .title = "two OpenMP runtimes in one process",
     .meaning = "Each brings its own threads; the process gets slow, hangs, or is ended by one of them "
                "(\"OMP: Error "
                "#15\").",
     .before = "the closure, and what the process holds already",
     .causes =
         {"{library...} would be in one process: {path...}; one came with {held_by}, and each is of the "
          "kind that ends a process in which it meets another",
          "{library...} would be in one process: {path...}", "two OpenMP runtimes would be in one process"},
     .remedies = {"open this engine in a process of its own",
                  "publisher: link all parts of the build with the same OpenMP runtime"},
     .category = Category::request},
};

}  // namespace

std::span<const Entry> linking_entries() { return entries; }

}  // namespace enginehost::explain
