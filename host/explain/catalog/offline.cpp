// What is carried to machines without a network: EH-F4x, EH-M40, EH-P60.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;

constexpr Entry entries[] = {
    {.code = "EH-F40",
     .title = "bundle damaged or not a bundle",
     .meaning = "The bytes of a bundle are not those that its list names, the list contradicts itself or the "
                "manifests, or the file is no bundle. Nothing of it was installed.",
     .before = "every byte against the bundle's list, and the list against the manifests",
     .causes = {"{file} cannot be imported: at its entry {entry}, {problem}",
                "{file} cannot be imported: {build}: {problem}", "{file} cannot be imported: {problem}",
                "a bundle cannot be imported: {problem}", "the file is not a bundle, or it is damaged"},
     .remedies = {"copy {file} again from where it was exported, and compare the two with sha256sum",
                  "{!file}copy the bundle again from where it was exported",
                  "engine-cache export writes it anew on the machine that has the builds"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-F42",
     .title = "part of a bundle missing",
     .meaning =
         "A bundle was exported in several parts, and one of them is not beside the list of parts, or the "
         "list not beside the parts.",
     .before = "the list of parts",
     .causes = {"{part} is missing: part {number} of {count} that {list} names",
                "{part} is missing, the list of the bundle's parts; found: {parts_found}",
                "{part} cannot be read", "a part of the bundle is missing"},
     .remedies =
         {"{!parts_found}copy {part} into the folder of the other parts, and import again",
          "{?parts_found}copy {part} from where it was exported into the folder of the parts, and import "
          "{bundle}",
          "{?parts_found}where every part is there but the list is lost: join them in order to one file, "
          "and import that",
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
     .meaning =
         "A bundle holds only the difference to an earlier one, and what that one brought is not here.",
     .before = "the files that the bundle needs against all that is installed",
     .causes = {"{file} is the difference to {base}, and this cache lacks {count|file|files} ({bytes|bytes}) "
                "that {base} "
                "brings",
                "{file} leaves out what the asking machine had, and this cache lacks {count|file|files} "
                "({bytes|bytes}) "
                "of it",
                "a bundle needs files that are not here"},
     .remedies =
         {"import {base} first, which brings {base_build...}",
          "{?layer}name the cache that the request was made for: --cache DIR; or make a new request of "
          "what the layer has: engine-cache request --cache {layer|word} FILE ENGINE",
          "{!layer}make a new request here: engine-cache request FILE ENGINE", "export again without --base"},
     .exit_status = S::not_fetched,
     .category = Category::request},
    {.code = "EH-M40",
     .title = "only the bundle speaks for its files",
     .meaning =
         "Policy demands signed repositories, and no signed manifest of a repository says which files this "
         "build of a bundle has.",
     .before = "signatures, trees, digests and file digests of the bundled repository's manifests",
     .causes =
         {"{policy} in {policy_file} demands that a signed manifest name the files of {build}: {problem}",
          "policy demands signatures for {build}, and {problem} (repository {repository})",
          "policy demands signatures for {build}, and {problem}",
          "policy demands signatures, and no manifest of a repository says which files {build} has",
          "policy demands signatures, and a bundle has only its own word"},
     .remedies =
         {"have the publisher of {repository} sign it (docs/publishing.md), and export the build again",
          "export it where its repository can be read, whose manifest names the trees (\"tree\" of "
          "each artifact, or \"digest\" of the build)",
          "docs/manifests.md says how a manifest names them"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-P60",
     .title = "licence does not allow passing it on",
     .meaning =
         "A component's license forbids handing it to others, or wants to be asked about. An export is "
         "refused until the person who exports says that they may.",
     .before = "\"redistribute\" of the license in the manifest; not stated counts as \"ask\" where the "
               "licence wants explicit acceptance",
     .causes =
         {"{component} of {build} is under {license}, which does not allow passing it on{redistribute=no}",
          "{component} of {build} is under {license}, which has to be asked about passing it on",
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
