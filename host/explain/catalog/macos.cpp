// EH-X: macOS. There its loader decides; on Linux EngineHost decides from the files, and from dyld's texts.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace macos_table {

constexpr std::string_view repair = "engine-cache verify --repair fetches the damaged files again";

constexpr Entry entries[] = {
    {.name = {"EH-X01", "library missing"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "A library or its @rpath was not found.",
     .before = "load commands and LC_RPATH of the file and of all that it needs; libraries of macOS itself "
               "lie in the shared cache and not on disk",
     .after = "\"Library not loaded\"",
     .causes = {"{needed_by|name} needs {library...}, which was not found", "{library...} was not found",
                "a library was not found"},
     .remedies = {"publisher: give {needed_by|name} an LC_RPATH for the folder of {present_at}",
                  "install {provided_by...}",
                  "use a build that includes it; publishers: LC_RPATH @loader_path for libraries in the same "
                  "folder"}},
    {.name = {"EH-X02", "library for another processor"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "The file has no slice for this process, which may run under Rosetta.",
     .before = "slices of the file",
     .after = "\"incompatible architecture\"",
     .causes = {"{file} is built for {built_for}; this process runs under Rosetta as {machine}{?rosetta}",
                "{file} is built for {built_for}; this process is {machine}",
                "the library has no slice for this process"},
     .remedies =
         {"use the build for {machine}, or start the program without Rosetta",
          "use the build for this processor; engine-info ENGINE --plan --explain lists them{!machine}"}},
    {.name = {"EH-X03", "not a Mach-O file"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "The file is damaged or something else.",
     .before = "magic bytes and the sizes of the segments",
     .after = "\"not a mach-o file\", \"slice is not valid mach-o file\"",
     .causes = {"{file} is not a Mach-O file: {problem}", "{file} is not a Mach-O file",
                "the file is not a Mach-O file"},
     .remedies = {repair},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.name = {"EH-X04", "code signature refused"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "The signature is missing, broken, or of another team than the program's.",
     .before = "LC_CODE_SIGNATURE",
     .after = "\"code signature … not valid for use in process\", \"code signing blocked mmap()\"",
     .causes = {"{file} is not loaded by Apple silicon: {problem}",
                "the code signature of {file} is not accepted", "the code signature is not accepted"},
     .remedies = {repair,
                  "publisher: sign it again after every change (codesign -f -s -); a hardened program needs "
                  "the entitlement disable-library-validation"},
     .category = Category::policy},
    {.name = {"EH-X05", "quarantined by macOS"},
     .proof = Proof::from_file,
     .unproduced = "the mark is read as Linux stores it (user.com.apple.quarantine), and dyld's text is "
                   "read; the mark on "
                   "macOS and Gatekeeper's decision need macOS",
     .meaning = "The file carries the mark of a download.",
     .before = "the attribute com.apple.quarantine",
     .after = "\"library load disallowed by system policy\"",
     .causes = {"{file} is marked as a download by {downloaded_by}, and macOS loads it only if it is "
                "notarized or allowed",
                "macOS holds {file} in quarantine", "macOS holds the file in quarantine"},
     .remedies =
         {"run engine-cache verify --deep; if it finds no damage: xattr -d com.apple.quarantine {file|word}",
          "use a signed and notarized build{!file}"},
     .category = Category::policy},
    {.name = {"EH-X06", "blocked by the sandbox"},
     .proof = Proof::parsed,
     .unproduced =
         "needs macOS: the sandbox belongs to the program and is in no library; dyld's text is read",
     .meaning = "The program's sandbox, or its hardened runtime, forbids loading it from there.",
     .before = "the program's entitlements",
     .after = "\"file system sandbox blocked mmap()\", \"relative path not allowed in hardened program\"",
     .causes = {"the sandbox does not allow {file}", "the sandbox does not allow the library"},
     .remedies = {"set ENGINEHOST_CACHE to a folder in the program's container"},
     .category = Category::policy},
    {.name = {"EH-X07", "macOS too old"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "The library is built for a newer macOS.",
     .before = "LC_BUILD_VERSION against this macOS",
     .after = "\"Symbol not found\", \"newer than running OS\"",
     .causes = {"{file} needs macOS {required}; this is {found}",
                "{required_by|name} is built for macOS {required}", "the library is built for a newer macOS"},
     .remedies =
         {"update macOS, or use a build for older systems (engine-info ENGINE --plan --explain lists them)"}},
    {.name = {"EH-X08", "not a library for this platform"},
     .proof = Proof::from_file,
     .unproduced = "real Mach-O files in a described macOS; dyld's text is read",
     .meaning = "An executable, or a file for another Apple platform.",
     .before = "file type and platform of the file",
     .after = "\"cannot dlopen a main executable\", \"wrong platform to load into process\"",
     .causes = {"{file} is for {built_for}", "{file} is an executable, or for another Apple platform",
                "the file is an executable, or for another Apple platform"},
     .remedies = {"use the build for macOS; engine-info ENGINE --plan --explain lists them"}},
};

}  // namespace macos_table

Table macos_entries() { return {macos_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
