// EH-W: Windows. There its loader decides; on Linux EngineHost decides from the files, and from the texts and
// numbers of that loader.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace windows_table {

constexpr std::string_view repair = "engine-cache verify --repair fetches the damaged files again";
constexpr std::string_view inspect =
    "engine-info --inspect {file|word} lists every DLL that it needs, and those that are not found";

constexpr Entry entries[] = {
    {.name = {"EH-W01", "DLL missing"},
     .meaning = "A DLL, or one that it needs, was not found. Windows reports the same for both.",
     .before = "imports of the file and of all that it imports, in the loader's search order",
     .after = "error 126; \"Can't find dependent libraries\"",
     .causes = {"{needed_by|name} needs {library...}, which was not found",
                "{file|name}, or a DLL that it needs, was not found",
                "a DLL, or one that it needs, was not found"},
     .remedies =
         {"install {provided_by...}", inspect,
          "{!provided_by}put {library...} into the folder of {needed_by|name}, or use a build that includes "
          "it",
          "{!library}most often the Visual C++ Redistributable for Visual Studio 2015-2022 is missing"}},
    {.name = {"EH-W02", "DLL present but not where the loader looks"},
     .meaning =
         "The DLL is in the folder of the one that needs it, but the search flags leave that folder out.",
     .before = "the imports, searched with and without the folder of the DLL itself",
     .after = "error 126, although the file exists",
     .causes = {"{library} is at {present_at}, where the loader does not look",
                "a DLL is in the folder of the one that needs it, where the loader does not look"},
     .remedies = {"load with LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR and LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, as "
                  "EngineHost does"}},
    {.name = {"EH-W03", "function missing in a DLL"},
     .proof = Proof::from_file,
     .unproduced =
         "needs the loader of Windows: Wine loads a DLL that lacks an import, and never reports error 127",
     .meaning = "An older DLL of that name was found first.",
     .before = "imports against the exports of the DLL that would be found",
     .after = "error 127",
     .causes = {"{path} lacks {symbol}, which {required_by|name} needs",
                "{file|name}, or a DLL that it needs, found an older DLL that lacks one of its functions",
                "a DLL lacks a function that another needs"},
     .remedies = {"remove the old copy {path}, or take its folder off PATH",
                  "look for older copies of the DLLs it needs in C:\\Windows\\System32 and on PATH{!path}"}},
    {.name = {"EH-W04", "not a DLL for this machine"},
     .meaning = "Another processor, an empty or cut file, or no DLL at all. Windows reports the same for all "
                "of them.",
     .before = "the file's header and size",
     .after = "error 193",
     .causes = {"{file} is not a DLL for this machine: {problem}", "{file} is not a DLL for this machine",
                "the file is not a DLL for this machine"},
     .remedies = {"use the build for this machine; engine-info ENGINE --plan --explain lists them", repair}},
    {.name = {"EH-W05", "DLL failed to start"},
     .meaning = "The start code of the DLL, or of one that it needs, failed (1114) or crashed (998).",
     .after = "errors 1114, 998",
     .causes = {"{file|name}, or a DLL that it needs, failed in its start code (error {error_number})",
                "{file|name}, or a DLL that it needs, failed in its start code",
                "a DLL failed in its start code"},
     .remedies = {"install the newest Visual C++ Redistributable for Visual Studio 2015-2022, and the newest "
                  "GPU driver",
                  "use a build for an older processor, or a cpu build: --flavor cpu"},
     .category = Category::crash},
    {.name = {"EH-W06", "old Visual C++ runtime found first"},
     .proof = Proof::from_file,
     .unproduced = "needs Microsoft's Visual C++ runtime, old and new: Wine's own works under any version",
     .meaning =
         "A program folder (a Java runtime) contains an older MSVCP140.dll than the engine was built with.",
     .before = "linker version of the DLLs against the file version of the MSVCP140.dll that would be found",
     .after = "a crash inside msvcp140.dll, or error 1114",
     .causes = {"{path} is version {found}; {required_by|name} was made for {required} or newer",
                "{path} is version {found}; {required} is needed",
                "an older Visual C++ runtime is found before the system's"},
     .remedies = {"install the Visual C++ Redistributable for Visual Studio 2015-2022, and use a program "
                  "folder without a copy of its own (a newer Java runtime)"}},
    {.name = {"EH-W07", "DLL taken from PATH"},
     .meaning = "Another program's DLL of the same name is found first.",
     .before = "each name along PATH",
     .after = "where each DLL was really loaded from",
     .causes = {"{library} would come from {path} instead of {wanted}",
                "{library} comes from {path}, which is on PATH", "a DLL of another program is found first"},
     .remedies = {"take the folder of {path} off PATH", "start the program with a shorter PATH{!path}"}},
    {.name = {"EH-W08", "DLL for later use missing"},
     .meaning = "A delay-loaded DLL, or a function of it, was not found at its first use.",
     .before = "delay imports of the file in the loader's search order",
     .after = "exceptions 0xC06D007E and 0xC06D007F",
     .causes = {"{needed_by|name} needs {library} at its first use, and it was not found",
                "{file|name} was not found at first use",
                "a DLL that is opened at its first use was not found"},
     .remedies = {"install {provided_by...}", inspect,
                  "use a build that does not need it: engine-info ENGINE --plan --explain lists them"}},
    {.name = {"EH-W09", "file locked or refused by a scanner"},
     .meaning = "Another program, often a virus scanner, holds the file open or removed it.",
     .after = "errors 5, 32, 33, 225",
     .causes = {"{error_number=5}{file} may not be read: Windows denies access (error 5)",
                "{error_number=225}a virus scanner refuses {file} (error 225)",
                "{file} is held by another program (error {error_number})",
                "{file} is held by another program", "the file is held by another program"},
     .remedies = {"try again; if it happens again, ask the administrator to check the virus scanner's log "
                  "for the cache folder",
                  "{error_number=5}give this user permission to read {file}"},
     .category = Category::transient},
    {.name = {"EH-W10", "blocked by application control"},
     .proof = Proof::parsed,
     .unproduced =
         "needs Windows: Wine has no application control, and no file shows what a policy allows; the error "
         "numbers are read",
     .meaning = "Smart App Control, WDAC or AppLocker does not allow the DLL.",
     .after = "errors 4551, 1260, 577",
     .causes = {"{error_number=577}Windows accepts no signature of {file}, or requires one that it lacks "
                "(error 577)",
                "{error_number=1260}AppLocker or a software restriction policy forbids {file} (error 1260)",
                "{error_number=4551}Smart App Control or App Control for Business (WDAC) forbids {file} "
                "(error 4551)",
                "Windows does not allow {file} to be loaded", "Windows does not allow the DLL to be loaded"},
     .remedies = {"use a signed build, or ask the administrator to allow the cache folder",
                  "the event log names the rule: Applications and Services Logs, Microsoft, Windows, then "
                  "AppLocker or CodeIntegrity"},
     .category = Category::policy},
    {.name = {"EH-W11", "page file too small"},
     .meaning = "Not enough memory can be committed for the libraries, which are large with CUDA.",
     .after = "errors 1455, 14, 8",
     .causes = {"there is not enough page file for {file}", "there is not enough page file"},
     .remedies = {"enlarge the page file (System, Advanced, Performance), or close other programs"},
     .category = Category::transient},
    {.name = {"EH-W12", "path or side-by-side configuration wrong"},
     .proof = Proof::from_file,
     .unproduced = "needs Windows: Wine loads from long paths, and without the assembly that a manifest "
                   "names; the error "
                   "numbers are read",
     .meaning = "The path is too long or not there, or an assembly the DLL names is missing.",
     .before = "the length of the path; the manifest among the file's resources",
     .after = "errors 3, 206, 14001",
     .causes =
         {"{file|name} names the side-by-side assembly {assembly}, which Windows looks up in its own store",
          "{file} cannot be loaded: its path has {path_length} characters (error {error_number})",
          "{file} cannot be loaded: {os_said}", "the path is too long, or an assembly is missing"},
     .remedies = {"install the assembly {assembly}", "set ENGINEHOST_CACHE to a short path{!assembly}",
                  "install the Visual C++ Redistributable the DLL was built with"}},
};

}  // namespace windows_table

Table windows_entries() { return {windows_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
