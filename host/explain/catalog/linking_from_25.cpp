// EH-L25 and later: linking libraries on Linux.
#include "host/explain/catalog/linking_texts.hpp"
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace linking_from_25_table {

constexpr Entry entries[] = {
    {.name = {"EH-L25", "no permission to read a library"},
     .meaning = "This user has no permission to read the file, or a folder on the way to it.",
     .before = "access to each part of the path",
     .after = "\"Permission denied\"",
     .causes = {"{file} cannot be read: this user has no permission for {blocked_by}",
                "this user has no permission to read {file}",
                "this user has no permission to read the file, or a folder on the way to it"},
     .remedies = {"as its owner: chmod a+rX {blocked_by|word}",
                  "{!read_only_layer}set ENGINEHOST_CACHE to a folder of this user", without_layer},
     .category = Category::policy},
    {.name = {"EH-L26", "out of file descriptors, or an input error"},
     .meaning = "The process has too many files open, or the disk failed to read.",
     .after = "\"Too many open files\", \"Input/output error\"",
     .causes = {"{file} could not be read now: {os_said}", "the file could not be read now"},
     .remedies = {"raise the limit (ulimit -n 65536), or check the disk", "try again"},
     .category = Category::transient},
    {.name = {"EH-L27", "processor too old"},
     .meaning = "The build uses instructions this processor does not have.",
     .before = "the manifest's cpu features and the file's ISA marker against the processor",
     .after = "\"CPU ISA level is lower than required\", SIGILL",
     .causes = {"{required_by|name} needs {needs}; this processor has {have}",
                "the build needs {required}; this processor has {found}",
                "the build needs a newer processor"},
     .remedies =
         {// QEMU, "CPU models"; IBM/MAX-Object-Detector#131
          "{?virtual_machine}if the host's processor has {required}: let the virtual machine use it "
          "(QEMU and libvirt: -cpu host, host-passthrough; Proxmox: CPU type host; VirtualBox and "
          "VMware on Windows: turn Hyper-V off)",
          "use a build for this processor: engine-info ENGINE --plan --explain lists them"}},
    {.name = {"EH-L28", "built for musl"},
     .meaning = "The library belongs to a system with the musl C library (Alpine); this one has glibc.",
     .before = "DT_NEEDED libc.musl-… or libc.so",
     .after = "\"libc.so: invalid ELF header\"",
     .causes = {"{needed_by|name} needs {library}: it is built for musl (Alpine), and this system has glibc",
                "the build is for musl (Alpine), and this system has glibc"},
     .remedies = {"use the build for glibc"}},
    {.name = {"EH-L29", "built for glibc"},
     .proof = Proof::from_file,
     .unproduced = "the texts come from musl's own loader, and the machine is a described one",
     .meaning = "The library belongs to a system with the GNU C library; this one has musl.",
     .before = "version needs GLIBC_…",
     .after = "\"Error relocating …: symbol not found\"",
     .causes = {"{needed_by|name} needs {library}: it is built for glibc, and this system has musl",
                "{file|name}: {problem}", "the build is for glibc, and this system has musl"},
     .remedies = {"use the build for musl", "install the package gcompat, which runs some builds for glibc"}},
    {.name = {"EH-L30", "LD_LIBRARY_PATH is ignored"},
     .meaning = "The program is set-uid or has file capabilities: the loader ignores its environment.",
     .before = "AT_SECURE",
     .causes = {"{library} is at {present_at}, but the program runs with raised privileges, so the loader "
                "ignores LD_LIBRARY_PATH",
                "the program runs with raised privileges, so the loader ignores LD_LIBRARY_PATH"},
     .remedies = {"remove the capabilities or the set-uid bit of the program, or install the library in a "
                  "system folder"}},
    {.name = {"EH-L31", "LD_LIBRARY_PATH changed too late"},
     .meaning = "The loader reads the variable at program start; changing it later has no effect.",
     .causes = {"{library...} is at {present_at}, in a folder of LD_LIBRARY_PATH, which was changed after "
                "the program started",
                "LD_LIBRARY_PATH was changed after the program started"},
     .remedies = {"set it before the program starts, or not at all"}},
    {.name = {"EH-L32", "the library found depends on the current folder"},
     .meaning = "An empty element of RUNPATH or LD_LIBRARY_PATH means the current folder, and a path in "
                "DT_NEEDED or RUNPATH without a leading slash begins there. The libraries loaded depend on "
                "where the program was started.",
     .before = "RUNPATH, DT_NEEDED and LD_LIBRARY_PATH",
     .causes = {"{file|name} needs {library}, a path from the current folder, here {folder}",
                "{file|name} has {element} in its search path, a path from the current folder, here {folder}",
                "{file|name} has an empty element in its search path, which means the current folder",
                "a search path has an empty element, which means the current folder"},
     .remedies = {"{!library}{!element}remove the empty element (a colon at the beginning or end)",
                  "{?element}publisher: begin the path with $ORIGIN or a slash",
                  "publisher: need it by its name alone, and set a RUNPATH from $ORIGIN: patchelf "
                  "--replace-needed {library|word} {library|name} {file|name}"},
     .category = Category::request},
    {.name = {"EH-L33", "path that the loader cannot use"},
     .meaning =
         "The path is too long, or contains a colon or semicolon, with which the loader separates folders.",
     .after = "\"File name too long\"",
     .causes = {"{library} is at {present_at}, but {problem}", "the loader cannot open {file}: {problem}",
                "the path is too long for the loader"},
     .remedies = {"set ENGINEHOST_CACHE to a shorter, plain path"}},
    {.name = {"EH-L34", "LD_PRELOAD names a file that cannot be loaded"},
     .meaning = "The loader reports it at every program start and continues.",
     .after = "\"cannot be preloaded … ignored\"",
     .causes = {"LD_PRELOAD names {library}, which cannot be loaded",
                "LD_PRELOAD names a file that cannot be loaded"},
     .remedies = {"unset LD_PRELOAD"},
     .category = Category::request},
    {.name = {"EH-L35", "two OpenMP runtimes in one process"},
     .meaning = "Each starts its own threads. The process gets slow, hangs, or one of them ends it (\"OMP: "
                "Error #15\").",
     .before = "the closure, and the libraries that the process has already loaded",
     .causes = {"{library...} would be in one process: {path...}; one was loaded for {held_by}, and each of "
                "them ends a process that has loaded another",
                "{library...} would be in one process: {path...}",
                "{library} ended the process, because {found} had already started in it",
                "two OpenMP runtimes would be in one process"},
     .remedies = {"{!found}open this engine in a process of its own",
                  "{?found}start the program with KMP_DUPLICATE_LIB_OK=TRUE; its authors call that unsafe",
                  "publisher: link all parts of the build with the same OpenMP runtime"},
     .category = Category::request},
    {.name = {"EH-L36", "the engine fails beside what this process holds"},
     .meaning = "The build works in a process of its own, and fails in this one, which has loaded other "
                "engines or libraries. Nothing is remembered about the build.",
     .after = "a failure to load or to create the engine, after the probe or a proof on record",
     .causes = {"{build} works alone, and fails beside {held_by...}: {failure}",
                "{build} works alone, and fails in this process, which holds {library...|name} and {more} "
                "other libraries: {failure}",
                "{build} works alone, and fails in this process, which holds {library...|name}: {failure}",
                "the engine works alone, and fails in this process"},
     .remedies = {"open this engine in a process of its own"},
     // Concerns this process only.
     .category = Category::request},
    {.name = {"EH-L37", "a loaded library is used in place of the build's"},
     .meaning =
         "The program had loaded the engine's libraries from another place. They have the release and "
         "the symbols of the build's own, of which a process can have only one copy, so they are used. "
         "EngineHost did not verify their bytes.",
     .before = "SONAME, release, and names, versions and sizes of all exported symbols",
     .causes =
         {"the program had loaded {path...}, of release {release}, which are used in place of the "
          "build's own; their bytes were not verified{+path}",
          "the program had loaded {path}, of release {release}, which is used in place of the build's "
          "own; its bytes were not verified",
          "the engine's libraries are those that the program had loaded; their bytes were not verified"},
     .remedies = {"open this engine in a process of its own to use the verified files",
                  "administrator: forbid it with \"loaded_libraries\": false in the policy"},
     .category = Category::request},
    {.name = {"EH-L45", "the same .proto file in two libraries"},
     .meaning = "Two libraries share one protobuf and contain the code of the same .proto file. protobuf "
                "ends the process at the second.",
     .after = "\"File already exists in database\"",
     .causes = {"two libraries of the process contain the code of {found}, and protobuf ended the process",
                "two libraries of the process contain the code of the same .proto file"},
     .remedies = {"start the program without LD_PRELOAD and LD_LIBRARY_PATH, if they bring a libprotobuf",
                  "use another version of the engine: two libraries of this one contain the same code"}},
    {.name = {"EH-L43", "library for a newer Linux kernel"},
     .meaning =
         "The file's note NT_GNU_ABI_TAG names a newer kernel than the one that runs. glibc until 2.35 "
         "skips such a file and reports \"No such file or directory\". In a container, the kernel is "
         "the host's.",
     .before = "NT_GNU_ABI_TAG against the release that uname reports",
     .after = "\"cannot open shared object file\", although the file exists",
     .causes = {"{needed_by|name} needs {library}; {path} is for Linux {needs} and newer, and this kernel is "
                "{have}",
                "{file} is for Linux {needs} and newer; this kernel is {have}",
                "the file is for a newer Linux kernel"},
     .remedies = {"run it on a machine with Linux {needs} or newer (in a container: the host's kernel "
                  "counts), or on a system with glibc 2.36 or newer",
                  "use a build for older kernels: engine-info ENGINE --plan --explain lists them"}},
};

}  // namespace linking_from_25_table

Table linking_entries_from_25() { return {linking_from_25_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
