// EH-F: files, archives, bundles, the cache and the disk.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace files_table {

constexpr std::string_view blame =
    "{?fetched_again}the file was fetched again {fetched_again|time|times} and was wrong each time: check "
    "the disk and programs that write into the cache, then the mirror or a proxy on the way";
// For files of the cache only. Evidence "place" marks files that a person or a repository named.
constexpr std::string_view named_again =
    "{place=argument}name another file, or replace {file} with a good copy";
constexpr std::string_view repair =
    "{!place}{!as_published}{!outside}{!read_only_layer}{!repair_failed}engine-cache verify --repair fetches "
    "the damaged files again";
// Only the digest shows damage that keeps a file's size and time.
constexpr std::string_view deep_repair =
    "{!place}{!as_published}{!outside}{!read_only_layer}{!repair_failed}{!expected_mode}engine-cache verify "
    "--deep --repair fetches the damaged files again";
// Copies of a cache (images, chmod -R) have other permissions and the right bytes.
constexpr std::string_view repair_mode =
    "{?expected_mode}{!read_only_layer}{!repair_failed}engine-cache verify --repair --offline restores the "
    "permissions, and fetches nothing";
// A repair was just tried.
constexpr std::string_view unrepaired =
    "{?repair_failed}the damaged files could not be fetched again ({repair_failed}): run engine-cache verify "
    "--repair without --offline, with a repository or mirror that has them (--repository); until then the "
    "build is not opened";
// EngineHost repairs nothing in a read-only layer.
constexpr std::string_view layer_repair =
    "{?read_only_layer}repair it as a user who can write in {read_only_layer}: engine-cache verify --deep "
    "--repair {build} --cache {read_only_layer|word}";
constexpr std::string_view published =
    "{?as_published}use another version (engine-info ENGINE --plan --explain lists them), and ask the "
    "publisher to replace the file: it was published like this";
constexpr std::string_view not_ours =
    "{?outside}the file belongs to no build in the cache: replace it, or remove it from the folders that the "
    "loader searches";

constexpr Entry entries[] = {
    {.name = {"EH-F01", "a file is missing or cannot be read"},
     .meaning =
         "A file that should be there cannot be opened: an installed build lost it, or a path is wrong.",
     .before = "stat of every file against the installed tree",
     .causes = {"{build}: {problem}{!file}",
                "no archive of {build} holds its plugin {plugin}; there is {found_at}",
                "no archive of {build} holds its plugin {plugin}", "{?errno}{file} cannot be read: {os_said}",
                "{library|name} of the build is missing: {file} does not exist",
                "{file} cannot be read: {os_said}",
                "{file} has {size|bytes}; a file of this kind may have at most {limit|bytes}",
                "{file} cannot be read: it is {problem}", "{file} does not exist",
                "a file that should be there cannot be opened"},
     .remedies = {blame,
                  "{?found_at}publisher: name {found_at} as the plugin's path in the manifest, or remove the "
                  "folder from the archive with \"strip\"",
                  "{?as_published}use another version, and ask the publisher to add the file: no component "
                  "of the build contains it{!found_at}",
                  "{?found_at}use another version, and report this one to its publisher", not_ours,
                  layer_repair, unrepaired, repair, "{!limit}check the path {file}{!as_published}",
                  "{?limit}ask the publisher of {file} to split it into smaller files"},
     .exit_status = S::not_loaded},
    {.name = {"EH-F02", "a file is empty"},
     .meaning = "The file has no bytes: a download or a copy was interrupted, or the disk was full.",
     .before = "file size",
     .after = "the loader reports \"file too short\"",
     .causes = {"{file} is empty (0 bytes)", "the file is empty (0 bytes)"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again}},
    {.name = {"EH-F03", "a file is too short to be a library"},
     .meaning = "The file is shorter than the header of its format.",
     .before = "file size against the header",
     .after = "the loader reports \"file too short\"",
     .causes = {"{file} has only {size|byte|bytes}, fewer than the header of a library ({format})",
                "{file} has only {size|byte|bytes}, fewer than the header of a library",
                "the file is shorter than the header of a library"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again}},
    {.name = {"EH-F04", "a file is truncated"},
     .meaning =
         "The file ends before what its own header promises. Loading it would kill the process (SIGBUS).",
     .before = "file size against the largest p_offset + p_filesz of its segments",
     .after = "SIGBUS inside the loader",
     .causes = {"{file} is truncated: it has {size} of {needed_size} bytes", "{file} is truncated",
                "the file ends before what its own header promises"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair, named_again}},
    {.name = {"EH-F05", "a web page or text instead of a library"},
     .meaning =
         "A server, a proxy or a sign-in page sent a page of text, and it was saved as if it were the file. "
         "Or a link became a text with the name of its target, as in archives and on file systems without "
         "links.",
     .before = "the first 512 bytes",
     .after = "the loader reports \"invalid ELF header\"",
     .causes =
         {"{file} was a link to {link_target}: it is a text with that name, as archives and file systems "
          "without links leave it",
          "{file} is not a library but a web page titled \"{page_title}\"",
          "{file} is not a library: it is a {format}", "{file} is text, not a library",
          "the file is a web page or text, not a library"},
     .remedies =
         {published, "{!as_published}make it a link again: ln -sf {link_target|word} {file|word}", not_ours,
          "{!place}{!as_published}{!outside}{!link_target}sign in to the network, or set https_proxy if the "
          "network needs a proxy",
          layer_repair, unrepaired, repair, "{place=argument}name a library instead of {file}"}},
    {.name = {"EH-F06", "a file is still compressed"},
     .meaning =
         "The file is an archive that was never unpacked: a mistake in the manifest (archive, select).",
     .before = "magic bytes",
     .after = "the loader reports \"invalid ELF header\"",
     .causes = {"{file} is a {format}, not a library", "{file} is an archive, not a library",
                "the file is an archive, not a library"},
     .remedies = {"{!place}{!outside}ask the publisher to correct \"archive\" of the artifact in the "
                  "manifest: it does not say how the file is packed",
                  "{?as_published}use another version: engine-info ENGINE --plan --explain lists them",
                  not_ours, layer_repair, unrepaired, repair,
                  "{place=argument}unpack {file} and name the library in it"}},
    {.name = {"EH-F07", "Git LFS pointer instead of a library"},
     .meaning = "The file is the small text that Git LFS keeps in a repository in place of a large file.",
     .before = "the first bytes: \"version https://git-lfs\"",
     .after = "the loader reports \"invalid ELF header\"",
     .causes = {"{file} is a Git LFS pointer to {expected_size} bytes with sha256 {oid}",
                "{file} is a Git LFS pointer, not the library itself",
                "the file is a Git LFS pointer, not the library itself"},
     .remedies = {published,
                  "publisher: fetch the real file (git lfs pull in the source repository) and publish it",
                  not_ours, repair}},
    {.name = {"EH-F08", "a file is damaged"},
     .meaning =
         "The bytes are not those that were published, or the file's inner tables contradict each other.",
     .before = "sha256 against the manifest; bounds of every table of the file",
     .after = "SIGSEGV, SIGBUS or an assertion of the loader while it reads the file",
     .causes = {"{file} has sha256 {found}; the manifest names {expected}",
                "{file} has other permissions than it was installed with: {problem}{?expected_mode}",
                "{file} is damaged: {problem}",
                "the loader failed inside {in_library|name} while it read the files of {file}",
                "the loader stopped at damaged metadata of {file}: {os_said}",
                "{file} is {format}, not a library", "{file} is damaged",
                "the file's bytes differ from the published ones"},
     .remedies = {blame, published, not_ours, layer_repair, unrepaired, repair_mode, deep_repair,
                  "{!place}{!as_published}{!outside}{!expected_mode}if it happens again, check the mirror, "
                  "the proxy and the disk",
                  named_again}},
    {.name = {"EH-F09", "library for another operating system"},
     .meaning = "A Windows or macOS library where this system's kind is needed.",
     .before = "magic bytes",
     .after = "the loader reports \"invalid ELF header\" (Windows: error 193)",
     .causes = {"{file} is a library for another operating system: {format}",
                "{file} is a library for another operating system",
                "the file is a library for another operating system"},
     .remedies = {"use the build for this operating system; engine-info ENGINE --plan --explain lists them",
                  "{place=argument}engine-info --inspect with --platform FILE checks it for a machine of its "
                  "own system; engine-info --platform-json writes FILE on that machine"},
     .exit_status = S::not_loaded,
     .category = Category::host},
    {.name = {"EH-F10", "not a shared library"},
     .meaning = "An executable, an object file or a static archive, which cannot be loaded.",
     .before = "e_type, DF_1_PIE, magic bytes",
     .after = "\"only ET_DYN and ET_EXEC can be loaded\", \"cannot dynamically load position-independent "
              "executable\"",
     .causes = {"{file} is a {type}, which cannot be loaded as a library",
                "{file} is a {format}, which cannot be loaded as a library", "{file} is not a shared library",
                "the file is an executable, an object file or a static archive"},
     .remedies = {"{!place}{!outside}ask the publisher to correct the manifest: it names the wrong file",
                  not_ours, "{place=argument}name a library instead of {file}"},
     .exit_status = S::not_loaded,
     .category = Category::host},
    {.name = {"EH-F11", "path does not lead to a file"},
     .meaning = "A folder, a broken or circular link, a device or a socket stands where a library should.",
     .before = "lstat and the links along the path",
     .after = "\"Is a directory\", \"Too many levels of symbolic links\", \"No such file or directory\"",
     .causes = {"{file} leads nowhere: the link {link} points to {target}, which leads back to the "
                "link{problem=link loop}",
                "{file} leads nowhere: the link {link} points to {target}, which does not exist",
                "{file} is {problem}, not a folder{expected_kind=folder}",
                "{file} is {problem}, not {wanted}", "{file} is {problem}, not a regular file",
                "a folder, or a link that leads nowhere, stands where a library should be"},
     .remedies = {published, not_ours, "correct or remove the link {link}{!as_published}", layer_repair,
                  unrepaired, repair, "check the path {file}{!as_published}"},
     .exit_status = S::not_loaded},
    {.name = {"EH-F12", "library cannot be mapped"},
     .meaning = "The file has no segments to load, no dynamic section, or segments this machine's page size "
                "cannot map.",
     .before = "program headers",
     .after = "\"object file has no dynamic section\", \"no loadable segments\", \"not page-aligned\"",
     .causes = {"{file} is built for memory pages of at most {alignment} bytes; the machine's have "
                "{page_size} bytes",
                "{file} cannot be mapped: {problem}", "{file} cannot be mapped",
                "the segments of the file cannot be mapped on this machine"},
     .remedies = {"use another build (engine-info ENGINE --plan --explain lists them), and report this one "
                  "to its publisher: it is broken, or made for another page size"},
     .exit_status = S::not_loaded,
     .category = Category::host},
    {.name = {"EH-F13", "library forbids being loaded at run time"},
     .meaning = "The file is linked with -z nodlopen.",
     .before = "DF_1_NOOPEN",
     .after = "\"shared object cannot be dlopen()ed\"",
     .causes = {"{file} was linked with -z nodlopen", "the file was linked with -z nodlopen"},
     .remedies = {"ask the publisher to link the library without -z nodlopen"},
     .exit_status = S::not_loaded,
     .category = Category::host},
    {.name = {"EH-F14", "a file changed while it was in use"},
     .meaning = "Another program rewrote an installed file in place; the next call into it may crash.",
     .after = "SIGBUS in code that ran before; changed size or time",
     .causes = {"{file} was changed after it was loaded",
                "an installed file was changed after it was loaded"},
     .remedies = {"find and stop the program that writes into the cache", deep_repair},
     .exit_status = S::cache},
    {.name = {"EH-F15", "disk full"},
     .meaning = "No space, no inodes or no quota left where files are to be written.",
     .before = "free bytes and inodes of the folder against what is needed",
     .after = "ENOSPC, EDQUOT",
     .causes = {"{folder} has no inodes left for new files{?free_inodes}",
                "{needed|bytes} are needed in {folder}; {free|bytes} are free", "{folder} is full: {os_said}",
                "{file} could not be written: {os_said}", "the disk is full"},
     .remedies =
         {"{!place}free space: engine-cache list shows what is installed, engine-cache remove ID removes it",
          "{errno=EDQUOT}quota -s shows what this user may have on {folder}; its administrator can raise it",
          "{!place}set ENGINEHOST_CACHE to a folder on a larger disk",
          "{place=argument}free space there, or name a folder on a larger disk"},
     .exit_status = S::cache,
     .category = Category::request},
    {.name = {"EH-F16", "folder cannot be written"},
     .meaning = "Read-only, not permitted, or no home folder to write to.",
     .before = "a trial write",
     .after = "EROFS, EACCES, EPERM",
     .causes =
         {"{problem}{?variable}", "{problem}{place=state}", "{folder}: {problem}{?format}",
          "{folder} cannot be created: {obstacle}", "{file} cannot be written: {os_said}{place=argument}",
          "{foreign} belongs to user {foreign_owner}, as after a command with sudo: {os_said}{?reference}",
          "{foreign} in this user's cache belongs to user {foreign_owner}: {os_said}",
          "{crossed} cannot be moved within {folder}, because its folders are on different file "
          "systems: {os_said}",
          "{folder} cannot be written: {os_said}", "{file} cannot be written: {os_said}",
          "the folder cannot be written"},
     .remedies =
         {"{?foreign}{!reference}as root: chown -R --reference={folder|word} {folder|word} (the "
          "folder's owner then owns all files in it)",
          "as root: chown -R --reference={reference|word} {foreign|word}",
          "{?crossed}put all folders of {folder} on one file system, or name another cache: --cache "
          "or ENGINEHOST_CACHE",
          "{?variable}set {variable}, or name a folder for the cache: --cache or ENGINEHOST_CACHE",
          "{?format}use the version of EngineHost that made this cache, or name another cache: "
          "--cache or ENGINEHOST_CACHE",
          "{!variable}{!place}{!format}{!foreign}{!crossed}{!usable_folder}name a cache that this user "
          "can write: --cache or ENGINEHOST_CACHE",
          "{!variable}{!place}{!format}{!foreign}{!crossed}name a cache that this user can write: "
          "--cache or ENGINEHOST_CACHE; one that lasts as long as {usable_folder}: export "
          "ENGINEHOST_CACHE=\"$(mktemp -d {usable_folder|word}/enginehost.XXXXXX)\"",
          "{!variable}{!place}{!format}{!foreign}{!crossed}{errno=EROFS}in a container, mount a folder "
          "that can be written, as docker run --volume does, and name it as the cache",
          "{!variable}{!place}{!format}{!foreign}{!crossed}{errno=EACCES}ask the cache's owner to "
          "fetch the build: engine-cache fetch",
          "{place=cache}{!variable}{!format}{!foreign}{!crossed}run this as the owner of {folder}",
          "{?in_the_way}engine-cache verify --repair moves {in_the_way} aside",
          "{place=state}{!in_the_way}{!state_set_by}name a cache that this user can write: --cache "
          "or ENGINEHOST_CACHE",
          "{place=state}change state, set by {state_set_by}, to a folder that this user can write",
          "{place=argument}{errno=ENOENT}{?file}create the folder {folder} first",
          "{place=argument}{errno=ENAMETOOLONG}use a shorter name",
          "{place=argument}name a file or folder that this user can write"},
     .exit_status = S::cache,
     .category = Category::request},
    {.name = {"EH-F17", "file size limit"},
     .meaning = "The process may not write files as large as this one (RLIMIT_FSIZE, or a limit of the file "
                "system).",
     .before = "RLIMIT_FSIZE against the size",
     .after = "EFBIG",
     .causes = {"{file} needs {needed|bytes}, and this process may write files of at most {limit|bytes}",
                "a file in {folder} needs {needed|bytes}, and this process may write files of at most "
                "{limit|bytes}",
                "{file} would exceed the file size limit of this process, {limit|bytes}",
                "{file} would exceed the file size limit of this process",
                "a file would exceed the file size limit"},
     .remedies = {"raise the limit: ulimit -f unlimited",
                  "{!place}set ENGINEHOST_CACHE to another file system",
                  "{place=argument}name a folder on another file system"},
     .exit_status = S::cache,
     .category = Category::request},
    {.name = {"EH-F18", "another process holds the lock"},
     .meaning = "Another process is installing or removing the same thing and did not finish in time.",
     .after = "the lock was not granted within the time",
     .causes = {"process {holder} ({holder_name}) holds {file}; waited {waited}",
                "process {holder} holds {file}; waited {waited}",
                "{build} is in use by process {holder} ({holder_name}), which holds {file}",
                "{build} is in use by process {holder}, which holds {file}",
                "{build} is in use by another process ({file})", "{file} cannot be locked: {os_said}",
                "{file} is locked by another process",
                "another process is installing or removing the same thing"},
     .remedies = {"wait for process {holder}, or end it",
                  "{!errno}fuser {file} shows the process that holds it; try again when that process has "
                  "finished",
                  "{errno=ESTALE}mount the network file system of {file} again: its server replaced it",
                  "{errno=EIO}check the system log: the disk of {file}, or its server, fails",
                  "{?errno}name a cache on a file system that grants locks: --cache or ENGINEHOST_CACHE",
                  "try again{!errno}"},
     .exit_status = S::cache,
     .category = Category::transient},
    {.name = {"EH-F19", "archive entry refused"},
     .proof = Proof::none,
     .meaning = "An archive contains an entry that is not safe: a path or link that leaves the folder, a "
                "device, the same path twice, or more bytes than allowed.",
     .before = "every entry, before anything is written for it",
     .causes = {"the entry {entry} of {file} is refused: {problem}",
                "the entry {entry} of the archive is refused: {problem}", "an entry is refused: {problem}",
                "the archive contains an entry that is not safe"},
     .remedies =
         {"{!place}use another version, and report this one to its publisher; nothing of it was installed",
          "{place=argument}leave the entry out with --select, or name another archive"},
     .category = Category::request},
    {.name = {"EH-F20", "components collide"},
     .proof = Proof::none,
     .meaning = "Two components of a build hold different bytes under the same path.",
     .before = "the lists of both components",
     .causes = {"{path} is different in two components of the build ({first} and {second})",
                "two components of the build hold different bytes under the same path"},
     .remedies =
         {"ask the publisher of the manifest to correct it: components of one build must not overlap"},
     .category = Category::request},
    {.name = {"EH-F21", "archive cannot be unpacked"},
     .proof = Proof::none,
     .meaning = "An archive with the right digest cannot be decoded, contradicts its own directory, or does "
                "not contain what the manifest says: a mistake of its publisher.",
     .before = "the archive against its directory and the manifest's select and tree",
     .causes = {"the {archive} archive of {component} cannot be used: {problem}",
                "{file} cannot be used as a {archive} archive: {problem} ({entry})",
                "{file} cannot be used as a {archive} archive: {problem}",
                "the {archive} archive cannot be used: {problem} ({entry})",
                "the {archive} archive cannot be used: {problem}", "an archive cannot be unpacked"},
     .remedies =
         {"{!place}use another version, and ask the publisher to correct the archive or the manifest: they "
          "do not agree",
          "{place=argument}{!strip}check that the archive is complete, and copy it again if it is not",
          "{place=argument}{?strip}correct --strip ({strip}) or --select: they leave nothing of the "
          "archive"}},
    {.name = {"EH-F22", "a folder of the cache is not trusted"},
     .meaning =
         "A folder of the cache, or one above it, belongs to another user than this one or root, or other "
         "users may write into it. They could decide which code is loaded from it. A system layer like this "
         "is skipped, and nothing is opened from such a cache.",
     .before = "owner and mode of the folders that lead to a build",
     .causes = {"{folder} is not trusted: {problem}", "a folder of the cache is not trusted"},
     .remedies = {"{place=cache}let nobody else own it or write there: chown, chmod -R go-w {folder|word}",
                  "{place=cache}name another cache: --cache or ENGINEHOST_CACHE",
                  "{!place}make root its owner, and let no other user write there: chown -R root and "
                  "chmod -R go-w",
                  "{!place}remove the layer from \"system_layers\" of the configuration"},
     .exit_status = S::cache,
     .category = Category::request},
    {.name = {"EH-F23", "cache cannot be used"},
     .proof = Proof::none,
     .meaning = "The list of installed or quarantined builds cannot be read. The cache, or a folder in it, "
                "belongs to another user or is no folder; a disk or a server fails; or the file that "
                "describes the layout of the cache is damaged.",
     .before = "opening the cache's folders, LAYER.json, and the records of builds",
     .causes = {"{file} is damaged: {problem}", "{file} cannot be read: {os_said}",
                "{folder} cannot be read: {os_said}", "{folder} is {problem}", "the cache cannot be read"},
     .remedies = {"{?damaged}engine-cache verify --repair writes it again",
                  "{?in_the_way}engine-cache verify --repair moves {in_the_way} aside",
                  "{?file}{!damaged}the disk may be failing: check the system log, and name a cache on "
                  "another disk: --cache or ENGINEHOST_CACHE",
                  "{!file}{!damaged}{!in_the_way}run this as the owner of the cache, or name another cache: "
                  "--cache or ENGINEHOST_CACHE"},
     .exit_status = S::cache,
     .category = Category::request},
    {.name = {"EH-F24", "too many open files"},
     .proof = Proof::none,
     .meaning = "The process, or the whole system, may open no further file.",
     .after = "EMFILE, ENFILE",
     .causes = {"{program} could not be started: {os_said}", "{file} cannot be opened: {os_said}",
                "{folder} cannot be opened: {os_said}", "no further file can be opened: {os_said}",
                "no further file can be opened"},
     .remedies = {"raise the limit, which is often 1024: ulimit -n 65536",
                  "close programs that hold many files open"},
     .exit_status = S::cache,
     .category = Category::transient},
    {.name = {"EH-F40", "bundle damaged or not a bundle"},
     .proof = Proof::none,
     .meaning = "The bytes of a bundle differ from its list, the list contradicts itself or the manifests, "
                "or the file is no bundle. Nothing of it was installed.",
     .before = "every byte against the bundle's list, and the list against the manifests",
     .causes = {"{file} cannot be imported: at its entry {entry}, {problem}",
                "{file} cannot be imported: {build}: {problem}", "{file} cannot be imported: {problem}",
                "a bundle cannot be imported: {problem}", "the file is not a bundle, or it is damaged"},
     .remedies = {"copy {file} again from where it was exported, and compare the two with sha256sum",
                  "{!file}copy the bundle again from where it was exported",
                  "or export it again on the machine that has the builds: engine-cache export"},
     .category = Category::request},
    {.name = {"EH-F42", "part of a bundle missing"},
     .proof = Proof::none,
     .meaning = "A bundle was exported in several parts, and one of them is not beside the list of parts, or "
                "the list not beside the parts.",
     .before = "the list of parts",
     .causes = {"{part} is missing: part {number} of {count} that {list} names",
                "{part}, the list of the bundle's parts, is missing; found: {parts_found}",
                "{part} cannot be read", "a part of the bundle is missing"},
     .remedies = {"{!parts_found}copy {part} into the folder of the other parts, and import again",
                  "{?parts_found}copy {part} from where it was exported into the folder of the parts, and "
                  "import {bundle}",
                  "{?parts_found}if all parts are there but the list is lost: join the parts in order into "
                  "one file, and import that",
                  "{!part}copy all parts into one folder, and import again"},
     .exit_status = S::not_fetched,
     .category = Category::request},
    {.name = {"EH-F43", "part of a bundle wrong"},
     .proof = Proof::none,
     .meaning = "A part of a bundle is cut, changed, or belongs to another export.",
     .before = "size and sha256 against the list of parts",
     .causes = {"{part}: {problem} ({size} bytes of {expected_size})", "{part}: {problem}",
                "a part of the bundle is wrong"},
     .remedies = {"copy {part} again from where it was exported", "{!part}copy the parts again"},
     .category = Category::request},
    {.name = {"EH-F44", "bundle needs an earlier one"},
     .proof = Proof::none,
     .meaning = "A bundle contains only the difference to an earlier one, and the files of the earlier one "
                "are not in this cache.",
     .before = "the files that the bundle needs against all that is installed",
     .causes = {"{file} contains only the difference to {base}, and this cache lacks {count|file|files} "
                "({bytes|bytes}) of {base}",
                "{file} leaves out the files that the requesting machine had, and this cache lacks "
                "{count|file|files} ({bytes|bytes}) of them",
                "a bundle needs files that this cache lacks"},
     .remedies = {"import {base} first, which contains {base_build...}",
                  "{?layer}name the cache that the request was made for: --cache DIR; or make a new request "
                  "for the layer: engine-cache request --cache {layer|word} FILE ENGINE",
                  "{!layer}make a new request here: engine-cache request FILE ENGINE",
                  "export again without --base"},
     .exit_status = S::not_fetched,
     .category = Category::request},
};

}  // namespace files_table

Table files_entries() { return {files_table::entries, S::wrong_bytes, Category::content}; }

}  // namespace enginehost::explain
