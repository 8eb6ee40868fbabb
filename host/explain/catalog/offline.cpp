// EH-F4x, EH-M40, EH-P60: bundles for machines without a network.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;

constexpr Entry entries[] = {
    {.code = "EH-F40",
     .title = "bundle damaged or not a bundle",
     .meaning = "The bytes of a bundle differ from its list, the list contradicts itself or the manifests, "
                "or the file is no bundle. Nothing of it was installed.",
     .before = "every byte against the bundle's list, and the list against the manifests",
     .causes = {"{file} cannot be imported: at its entry {entry}, {problem}",
                "{file} cannot be imported: {build}: {problem}", "{file} cannot be imported: {problem}",
                "a bundle cannot be imported: {problem}", "the file is not a bundle, or it is damaged"},
     .remedies = {"copy {file} again from where it was exported, and compare the two with sha256sum",
                  "{!file}copy the bundle again from where it was exported",
                  "or export it again on the machine that has the builds: engine-cache export"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-F42",
     .title = "part of a bundle missing",
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
    {.code = "EH-F43",
     .title = "part of a bundle wrong",
     .meaning = "A part of a bundle is cut, changed, or belongs to another export.",
     .before = "size and sha256 against the list of parts",
     .causes = {"{part}: {problem} ({size} bytes of {expected_size})", "{part}: {problem}",
                "a part of the bundle is wrong"},
     .remedies = {"copy {part} again from where it was exported", "{!part}copy the parts again"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-F44",
     .title = "bundle needs an earlier one",
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
    {.code = "EH-M40",
     .title = "no signed manifest lists the bundle's files",
     .meaning =
         "Policy requires signed repositories, and no signed manifest of a repository lists the files "
         "of this build. Or a build is installed with a better proof of its files than the bundle has.",
     .before = "signatures, trees, digests and file digests of the bundled repository's manifests",
     .causes =
         {"{build} from {installed_from} is installed, and the bundle would replace its files by others: "
          "{problem}",
          "{build} would be installed in {for_everyone} for every user, and {problem}",
          "{policy} in {policy_file} requires a signed manifest that names the files of {build}: {problem}",
          "policy requires signatures for {build}, and {problem} (repository {repository})",
          "policy requires signatures for {build}, and {problem}",
          "policy requires signatures, and no manifest of a repository lists the files of {build}",
          "policy requires signatures, and no signed manifest lists the files of the bundle"},
     .remedies =
         {"{?installed_from}if you trust the bundle more: engine-cache remove {build|word}, then "
          "import it again",
          "{?for_everyone}if you trust the bundle: engine-cache import --layer system --unsigned FILE",
          "{!installed_from}ask the publisher of {repository} to sign it (docs/publishing.md), then "
          "export the build again",
          "{!installed_from}export it on a machine that reads the build's repository, if the "
          "manifest there names the trees "
          "(\"tree\" of each artifact, or \"digest\" of the build)",
          "{!installed_from}docs/manifests.md says how a manifest names them"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-P60",
     .title = "license does not allow passing it on",
     .meaning = "A component's license forbids passing it on, or allows it only under conditions. An export "
                "is refused until the person who exports confirms the right to pass it on.",
     .before = "\"redistribute\" of the license in the manifest; if it is missing, \"ask\" for a license "
               "that needs explicit acceptance",
     .causes =
         {"{component} of {build} is under {license}, which does not allow passing it on{redistribute=no}",
          "{component} of {build} is under {license}, which may allow passing it on only under conditions",
          "a component may not be passed on"},
     .remedies = {"read {url}; if you may, add --redistribute {license|word}",
                  "if you may, add --redistribute {license|word}",
                  "let the other machine fetch it itself: engine-cache fetch"},
     .exit_status = S::forbidden,
     .category = Category::request},
};

}  // namespace

std::span<const Entry> offline_entries() { return entries; }

}  // namespace enginehost::explain
