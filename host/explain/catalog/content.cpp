// EH-F: what is on disk, and the disk itself.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;

constexpr std::string_view blame =
    "{?fetched_again}the file was fetched again {fetched_again|time|times} and was wrong each time: suspect "
    "the "
    "disk or a "
    "program that writes into the cache, and if the bytes come wrong already, the mirror or a proxy on the "
    "way";
// Of files of the cache only: what a person or a repository named says so ("place").
constexpr std::string_view named_again = "{place=argument}name another file, or put {file} there anew";
constexpr std::string_view repair =
    "{!place}{!as_published}{!outside}{!read_only_layer}{!repair_failed}engine-cache verify --repair fetches "
    "the "
    "damaged "
    "files again";
// What keeps a file's size and time is found by its digest only.
constexpr std::string_view deep_repair =
    "{!place}{!as_published}{!outside}{!read_only_layer}{!repair_failed}engine-cache verify --deep --repair "
    "fetches "
    "the "
    "damaged files again";
// It was just tried.
constexpr std::string_view unrepaired =
    "{?repair_failed}the damaged files could not be fetched again ({repair_failed}): name a repository or a "
    "mirror "
    "that has them (--repository), not offline, for engine-cache verify --repair; until then the build is "
    "not opened";
// Of a layer that is only read here nothing is repaired.
constexpr std::string_view layer_repair =
    "{?read_only_layer}whoever may write in {read_only_layer} mends it there: engine-cache verify "
    "--deep --repair {build} --cache {read_only_layer|word}";
constexpr std::string_view published =
    "{?as_published}the file is as it was published: tell the publisher, or use another version (engine-info "
    "ENGINE --plan --explain lists them)";
constexpr std::string_view not_ours =
    "{?outside}the file is of no build here: mend it, or take it off the loader's way";

constexpr Entry entries[] = {
    {.code = "EH-F01",
     .title = "file missing or unreadable",
     .meaning =
         "A file that should be there cannot be opened: an installed build lost it, or a path is wrong.",
     .before = "stat of every file against the installed tree",
     .causes = {"{build}: {problem}{!file}", "{?errno}{file} cannot be read: {os_said}",
                "{library|name} of the build is missing: {file} does not exist",
                "{file} cannot be read: {os_said}",
                "{file} has {size|bytes}, and at most {limit|bytes} of such a file are read",
                "{file} cannot be read: it is {problem}", "{file} does not exist",
                "a file that should be there cannot be opened"},
     .remedies = {blame, "{?as_published}no component of the build brings the file: tell its publisher",
                  not_ours, layer_repair, unrepaired, repair, "{!limit}check the path {file}{!as_published}",
                  "{?limit}tell whoever keeps {file}: it has to become several smaller ones"},
     .category = Category::content},
    {.code = "EH-F02",
     .title = "file is empty",
     .meaning = "The file has no bytes: a download or a copy was interrupted, or the disk was full.",
     .before = "file size",
     .after = "the loader says \"file too short\"",
     .causes = {"{file} has no bytes in it", "the file has no bytes in it"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F03",
     .title = "file is too short to be a library",
     .meaning = "The file is shorter than the header of its format.",
     .before = "file size against the header",
     .after = "the loader says \"file too short\"",
     .causes = {"{file} is only {size|byte|bytes} long, less than the header of a library ({format})",
                "{file} is only {size|byte|bytes} long, less than the header of a library",
                "the file is shorter than the header of a library"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F04",
     .title = "file is truncated",
     .meaning =
         "The file ends before what its own header promises. Loading it would kill the process (SIGBUS).",
     .before = "file size against the largest p_offset + p_filesz of its segments",
     .after = "SIGBUS inside the loader",
     .causes = {"{file} ends after {size} of {needed_size} needed bytes", "{file} ends too early",
                "the file ends before what its own header promises"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F05",
     .title = "a web page or text instead of a library",
     .meaning =
         "A server, a proxy or a sign-in page sent a page of text, and it was saved as if it were the file.",
     .before = "the first 512 bytes",
     .after = "the loader says \"invalid ELF header\"",
     .causes = {"{file} is not a library but a web page titled \"{page_title}\"",
                "{file} is not a library: its content is a {format}", "{file} is text, not a library",
                "the file is a web page or text, not a library"},
     .remedies =
         {published, not_ours,
          "{!place}{!as_published}{!outside}sign in to the network, or set https_proxy to the proxy that "
          "leads out",
          layer_repair, unrepaired, repair, "{place=argument}name a library: {file} is none"},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F06",
     .title = "file is still compressed",
     .meaning =
         "The file is an archive that was never unpacked: a mistake in the manifest (archive, select).",
     .before = "magic bytes",
     .after = "the loader says \"invalid ELF header\"",
     .causes = {"{file} is a {format}, not a library", "{file} is an archive, not a library",
                "the file is an archive, not a library"},
     .remedies =
         {"{!place}{!outside}tell the publisher of the manifest: the artifact's \"archive\" does not say how "
          "it is packed",
          "{?as_published}use another version: engine-info ENGINE --plan --explain lists them", not_ours,
          layer_repair, unrepaired, repair, "{place=argument}unpack {file} and name the library in it"},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F07",
     .title = "Git LFS pointer instead of a library",
     .meaning = "The file is the small text that stands for a large file in a Git repository.",
     .before = "the first bytes: \"version https://git-lfs\"",
     .after = "the loader says \"invalid ELF header\"",
     .causes = {"{file} is a Git LFS pointer to {expected_size} bytes with sha256 {oid}",
                "{file} is a Git LFS pointer, not the library itself",
                "the file is a Git LFS pointer, not the library itself"},
     .remedies = {published,
                  "publisher: fetch the real file (git lfs pull in the source repository) and publish that",
                  not_ours, repair},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F08",
     .title = "content is damaged",
     .meaning =
         "The bytes are not those that were published, or the file's inner tables contradict each other.",
     .before = "sha256 against the manifest; bounds of every table of the file",
     .after = "SIGSEGV, SIGBUS or an assertion of the loader while it reads the file",
     .causes = {"{file} has sha256 {found}, the manifest says {expected}", "{file} is damaged: {problem}",
                "the loader failed inside {in_library|name} while it read the files of {file}",
                "the loader stopped at damaged metadata of {file}: {os_said}",
                "{file} is {format}, not a library", "{file} is damaged",
                "the bytes of the file are not those that were published"},
     .remedies =
         {blame, published, not_ours, layer_repair, unrepaired, deep_repair,
          "{!place}{!as_published}{!outside}if it happens again, suspect the mirror, a proxy or the disk",
          named_again},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F09",
     .title = "library of another operating system",
     .meaning = "A Windows or macOS library where this system's kind is needed.",
     .before = "magic bytes",
     .after = "the loader says \"invalid ELF header\" (Windows: error 193)",
     .causes = {"{file} is a library for another system: {format}", "{file} is a library for another system",
                "the file is a library for another operating system"},
     .remedies =
         {"use the build for this operating system; engine-info ENGINE --plan --explain lists them",
          "{place=argument}engine-info --inspect with --platform FILE judges it for a machine of its own "
          "system; engine-info --platform-json writes FILE there"}},
    {.code = "EH-F10",
     .title = "not a shared library",
     .meaning = "An executable, an object file or a static archive, which cannot be loaded.",
     .before = "e_type, DF_1_PIE, magic bytes",
     .after = "\"only ET_DYN and ET_EXEC can be loaded\", \"cannot dynamically load position-independent "
              "executable\"",
     .causes = {"{file} is a {type}, which cannot be loaded as a library",
                "{file} is a {format}, which cannot be loaded as a library", "{file} is not a shared library",
                "the file is an executable, an object file or a static archive"},
     .remedies = {"{!place}{!outside}the manifest names the wrong file; tell its publisher", not_ours,
                  "{place=argument}name a library: {file} is none"}},
    {.code = "EH-F11",
     .title = "path does not lead to a file",
     .meaning = "A folder, a broken or circular link, a device or a socket stands where a library should.",
     .before = "lstat and the links along the path",
     .after = "\"Is a directory\", \"Too many levels of symbolic links\", \"No such file or directory\"",
     .causes = {"{file} leads nowhere: the link {link} points to {target}, and so back to "
                "itself{problem=link loop}",
                "{file} leads nowhere: the link {link} points to {target}, which does not exist",
                "{file} is {problem}, not a folder{expected_kind=folder}",
                "{file} is {problem}, not a regular file",
                "a folder, or a link that leads nowhere, stands where a library should be"},
     .remedies = {published, not_ours, "mend or remove {link}{!as_published}", layer_repair, unrepaired,
                  repair, "check the path {file}{!as_published}"},
     .category = Category::content},
    {.code = "EH-F12",
     .title = "library cannot be mapped",
     .meaning = "The file has no segments to load, no dynamic section, or segments this machine's page size "
                "cannot map.",
     .before = "program headers",
     .after = "\"object file has no dynamic section\", \"no loadable segments\", \"not page-aligned\"",
     .causes =
         {"{file} is built for pages of at most {alignment} bytes, this machine's are {page_size} bytes",
          "{file} cannot be mapped: {problem}", "{file} cannot be mapped",
          "the segments of the file cannot be mapped on this machine"},
     .remedies = {"tell the publisher: the build is broken, or made for another page size"}},
    {.code = "EH-F13",
     .title = "library forbids being loaded at run time",
     .meaning = "The file is linked with -z nodlopen.",
     .before = "DF_1_NOOPEN",
     .after = "\"shared object cannot be dlopen()ed\"",
     .causes = {"{file} was linked with -z nodlopen", "the file was linked with -z nodlopen"},
     .remedies = {"tell the publisher: plugins must not be linked with -z nodlopen"}},
    {.code = "EH-F14",
     .title = "file changed while it was in use",
     .meaning = "Another program rewrote an installed file in place; the next call into it may crash.",
     .after = "SIGBUS in code that ran before; changed size or time",
     .causes = {"{file} was changed after it was loaded",
                "an installed file was changed after it was loaded"},
     .remedies = {"find the program that writes into the cache", deep_repair},
     .exit_status = S::cache,
     .category = Category::content},
    {.code = "EH-F15",
     .title = "disk full",
     .meaning = "No space, no inodes or no quota left where files are to be written.",
     .before = "free bytes and inodes of the folder against what is needed",
     .after = "ENOSPC, EDQUOT",
     .causes = {"{folder} has no room for more files (no inodes are left){?free_inodes}",
                "{needed|bytes} are needed in {folder}, {free|bytes} are free", "{folder} is full: {os_said}",
                "{file} could not be written: {os_said}", "the disk is full"},
     .remedies = {"{!place}free space: engine-cache list shows what is installed, engine-cache remove ID "
                  "removes it",
                  "{!place}set ENGINEHOST_CACHE to a folder on a larger disk",
                  "{place=argument}free space there, or name a place on a larger disk"},
     .exit_status = S::cache,
     .category = Category::request},
    {.code = "EH-F16",
     .title = "folder cannot be written",
     .meaning = "Read-only, not permitted, or no home folder to write to.",
     .before = "a trial write",
     .after = "EROFS, EACCES, EPERM",
     .causes =
         {"{problem}{?variable}", "{problem}{place=state}", "{folder}: {problem}{?format}",
          "{folder} cannot be made: {obstacle}", "{file} cannot be written: {os_said}{place=argument}",
          "{foreign} belongs to user {foreign_owner}, who made it in this user's cache: {os_said}",
          "{crossed} cannot be moved within {folder}, whose folders lie on several file systems: {os_said}",
          "{folder} cannot be written: {os_said}", "{file} cannot be written: {os_said}",
          "the folder cannot be written"},
     .remedies =
         {"{?foreign}as root, chown -R --reference={folder|word} {folder|word} gives back to its owner what "
          "others made there",
          "{?crossed}have all folders of {folder} on one file system, or name another cache: --cache or "
          "ENGINEHOST_CACHE",
          "{?variable}set {variable}, or name a folder for the cache: --cache or ENGINEHOST_CACHE",
          "{?format}use the EngineHost that made this cache, or name another: --cache or ENGINEHOST_CACHE",
          "{!variable}{!place}{!format}{!foreign}{!crossed}name a cache that this user may write: --cache "
          "or ENGINEHOST_CACHE",
          "{!variable}{!place}{!format}{!foreign}{!crossed}let its owner fetch the build there, with "
          "engine-cache fetch",
          "{place=cache}{!variable}{!format}{!foreign}{!crossed}let the owner of {folder} do this, or let "
          "this "
          "user write there",
          "{?in_the_way}engine-cache verify --repair moves {in_the_way} aside",
          "{place=state}{!in_the_way}{!state_set_by}name a cache that this user may write: --cache or "
          "ENGINEHOST_CACHE",
          "{place=state}state, set by {state_set_by}, names the folder: name one that this user may write",
          "{place=argument}{errno=ENOENT}{?file}make the folder {folder} first",
          "{place=argument}{errno=ENAMETOOLONG}give it a shorter name",
          "{place=argument}name a place that this user may write"},
     .exit_status = S::cache,
     .category = Category::request},
    {.code = "EH-F17",
     .title = "file size limit",
     .meaning = "The process may not write files as large as this one (RLIMIT_FSIZE, or a limit of the file "
                "system).",
     .before = "RLIMIT_FSIZE against the size",
     .after = "EFBIG",
     .causes = {"{file} is to hold {needed|bytes}, and the largest file that this process may write has "
                "{limit|bytes}",
                "{folder}: a file of {needed|bytes} is to be written, the limit is {limit|bytes}",
                "{file} would exceed the largest file that this process may write, {limit|bytes}",
                "{file} would exceed the largest file this process may write",
                "a file would exceed the size limit"},
     .remedies = {"raise the limit: ulimit -f unlimited",
                  "{!place}set ENGINEHOST_CACHE to another file system",
                  "{place=argument}name a place on another file system"},
     .exit_status = S::cache,
     .category = Category::request},
    {.code = "EH-F18",
     .title = "another process holds the lock",
     .meaning = "Another process is installing or removing the same thing and did not finish in time.",
     .after = "the lock was not granted within the time",
     .causes = {"process {holder} ({holder_name}) holds {file}; waited {waited}",
                "process {holder} holds {file}; waited {waited}",
                "{build} is in use by another process ({file})", "{file} cannot be locked: {os_said}",
                "{file} is locked by another process",
                "another process is installing or removing the same thing"},
     .remedies = {"wait for process {holder}, or end it",
                  "fuser {file} tells who holds it, where the system knows; try again when it is done",
                  "try again"},
     .exit_status = S::cache,
     .category = Category::transient},
    {.code = "EH-F21",
     .title = "archive cannot be unpacked",
     .meaning = "An archive whose digest is right cannot be decoded, contradicts its own directory, or does "
                "not hold what "
                "the manifest says: a mistake of its publisher.",
     .before = "the archive against its directory and the manifest's select and tree",
     .causes = {"the {archive} archive of {component} cannot be used: {problem}",
                "{file} cannot be used as a {archive} archive: {problem} ({entry})",
                "{file} cannot be used as a {archive} archive: {problem}",
                "the {archive} archive cannot be used: {problem} ({entry})",
                "the {archive} archive cannot be used: {problem}", "an archive cannot be unpacked"},
     .remedies =
         {"{!place}tell the publisher of the manifest: the archive is not what the manifest says",
          "{place=argument}{!strip}see whether it is whole: an archive that was cut on its way is not",
          "{place=argument}{?strip}correct --strip ({strip}) or --select: nothing is left of the archive"},
     .exit_status = S::wrong_bytes,
     .category = Category::content},
    {.code = "EH-F22",
     .title = "folder of the cache is not trusted",
     .meaning = "A folder of the cache belongs to someone who is neither this user nor root, or others may "
                "write into "
                "it: they decide what code would be loaded from it. A system layer like this is passed over.",
     .before = "owner and mode of the folders that lead to a build",
     .causes = {"{folder} is not trusted: {problem}", "a folder of the cache is not trusted"},
     .remedies = {"let its owner be root and nobody else write there: chown -R root and chmod -R go-w",
                  "take the layer out of \"system_layers\" of the configuration"},
     .exit_status = S::cache,
     .category = Category::request},
    {.code = "EH-F23",
     .title = "cache cannot be used",
     .meaning =
         "What is installed or set aside cannot be told: the cache, or a folder in it, is another user's or "
         "no folder, a disk or a server fails, or the file that says how the cache is laid out is damaged.",
     .before = "opening the cache's folders, LAYER.json, and the records of builds",
     .causes = {"{file} is damaged: {problem}", "{file} cannot be read: {os_said}",
                "{folder} cannot be read: {os_said}", "{folder} is {problem}", "the cache cannot be read"},
     .remedies =
         {"{?damaged}engine-cache verify --repair writes it anew",
          "{?in_the_way}engine-cache verify --repair moves {in_the_way} aside",
          "{?file}{!damaged}the disk may be failing: look at what the system says of it, and name a cache "
          "on another: "
          "--cache or ENGINEHOST_CACHE",
          "{!file}{!damaged}{!in_the_way}let its owner do this, or name another cache: --cache or "
          "ENGINEHOST_CACHE"},
     .exit_status = S::cache,
     .category = Category::request},
    {.code = "EH-F24",
     .title = "too many open files",
     .meaning = "The process, or the whole system, may open no further file.",
     .after = "EMFILE, ENFILE",
     .causes = {"{program} could not be started: {os_said}", "{file} cannot be opened: {os_said}",
                "{folder} cannot be opened: {os_said}", "no further file can be opened: {os_said}",
                "no further file can be opened"},
     .remedies = {"raise the limit, which is often 1024: ulimit -n 65536",
                  "end programs that hold many files open"},
     .exit_status = S::cache,
     .category = Category::transient},
};

}  // namespace

std::span<const Entry> content_entries() { return entries; }

}  // namespace enginehost::explain
