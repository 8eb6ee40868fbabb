// EH-M: manifests, repositories and their signatures.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace manifests_table {

// For documents other than manifests, the evidence says how they were named ("place", "named_by").
constexpr std::string_view manifest_page =
    "{!place}docs/manifests.md and manifests/schema say what a manifest needs";
constexpr std::string_view settings_page =
    "{place=configuration}docs/settings.md lists the keys of a configuration file, and their values";
constexpr std::string_view platform_file =
    "{named_by=--platform}engine-info --platform-json writes such a file, on the machine that it describes";
constexpr std::string_view sent_by = "report it to the operator of {sent_by}, or use another repository";

constexpr Entry entries[] = {
    {.name = {"EH-M01", "not a JSON document"},
     .meaning = "A document is not valid JSON, too long or nested too deep.",
     .before = "strict parsing",
     .causes = {"{document} is not valid JSON at byte {position}: {problem}",
                "{document} is not valid JSON: {problem}", "a document is not valid JSON"},
     .remedies = {sent_by, "{!sent_by}correct {document}", manifest_page, settings_page, platform_file}},
    {.name = {"EH-M02", "field missing or wrong"},
     .meaning = "A document lacks a field that is required, or a field has the wrong type or value.",
     .before = "the format's schema",
     .causes = {"{document}: {member}: {problem}", "{document}: {problem}",
                "a document does not have the required form"},
     .remedies = {sent_by, "{!sent_by}correct {member} in {document}", manifest_page, platform_file}},
    {.name = {"EH-M03", "unknown critical field"},
     .meaning = "The document names a field as critical that this version does not know.",
     .before = "the member \"critical\"",
     .causes = {"{document} marks {member} as critical; this version does not know it",
                "{document} uses a critical field that this version does not know"},
     .remedies = {"update EngineHost"}},
    {.name = {"EH-M04", "format too new"},
     .meaning = "The document is written in a newer format than this version reads.",
     .before = "the member \"format\"",
     .causes = {"{document} has format {found}; this version reads format {supported}",
                "{document} has a newer format than this version reads: {problem}",
                "{document} has a newer format than this version reads"},
     .remedies = {"update EngineHost"}},
    {.name = {"EH-M05", "manifest differs from its index"},
     .meaning = "The manifest's digest or size is not the one its repository's index states.",
     .before = "sha256 against index.json",
     .causes = {"{document} has sha256 {found}; the index says {expected}",
                "{document} is not the manifest that the index names"},
     .remedies = {"{remedy}", "{!remedy}fetch again: the repository may have been changed meanwhile",
                  "{!remedy}the repository's publisher: write index.json again after a change to a manifest"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M06", "manifest path leaves the repository"},
     .meaning = "An index names a manifest by a path that is absolute or climbs out of the repository.",
     .before = "the path in index.json",
     .causes = {"{member} of {document} is {path}, which leaves the repository"},
     .remedies = {"ask the publisher of the repository to correct the path; other repositories still work"}},
    {.name = {"EH-M07", "repository cannot be used"},
     .meaning =
         "The index of a repository is missing, cannot be reached or is wrong, or a manifest is larger than "
         "this version reads.",
     .before = "index.json of the repository",
     .causes = {"the builds of {document} are left out: {problem}",
                "the repository {repository} cannot be used: {problem} ({os_said})",
                "the repository {repository} cannot be used: {problem}",
                "a repository cannot be used: {problem}"},
     .remedies =
         {"{?document}ask the publisher of {repository} for smaller manifests; its other manifests and other "
          "repositories still work",
          "{!document}check the address {repository}: its index.json must exist and be readable",
          "{!document}without a network, name a folder with --repository or use what is installed "
          "(--offline)"},
     .exit_status = S::not_fetched},
    {.name = {"EH-M08", "too few signatures"},
     .meaning = "A document of a repository that must be signed is not signed, or not by as many keys as its "
                "root requires.",
     .before = "the .minisig files beside the document",
     .causes = {"{document} is not signed, and must be: {owner_problem}",
                "{document} is signed by {found} of the {expected} keys that must sign it",
                "{document} is not signed"},
     .remedies = {"{remedy}",
                  "{!remedy}the repository's publisher: engine-manifest sign with the keys {key_id...}, then "
                  "publish again",
                  "{named_by=--repository}to accept this repository unsigned, this time: --allow-unsigned",
                  "{named_by=request.repositories}to accept this repository unsigned, this time: "
                  "request.allow_unsigned",
                  "{named_by=--layer system}to import it unsigned for all users: --unsigned",
                  "{!remedy}{!file}to accept this repository unsigned: add \"unsigned\": true beside its "
                  "\"location\" {repository} in the configuration",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M09", "signature is wrong"},
     .meaning = "A signature does not match: the document or the signature was changed, or belongs to "
                "another document.",
     .before = "Ed25519 over the document's digest, and over the trusted comment",
     .causes = {"the signature {signature} of {document} by the key {key_id} is wrong: {problem}",
                "{document} differs from what its signers signed: {problem}",
                "the signature {signature} cannot be used: {problem}"},
     .remedies = {"{remedy}",
                  "{!remedy}try again later: the repository may be in the middle of a publication",
                  "{!remedy}if it happens again, report it to the operator of {repository}, and use another "
                  "mirror until then",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M10", "key not trusted"},
     .meaning = "A repository must be signed by a key that this machine trusts, and it is not.",
     .before = "the keys of engine-cache trust list, or of the repository's accepted root",
     .causes = {"no key is trusted for the repository {repository}, which must be signed: {owner_problem}",
                "{document} is not signed by a key that is trusted for {repository} ({key_id...})",
                "no key is trusted for the repository {repository}"},
     .remedies =
         {"{remedy}",
          "{!remedy}get the publisher's public key from a place you trust: engine-cache trust add KEY "
          "--repository {repository|word}",
          "{!remedy}{?key_id}use the key that signs root.json; a key that signs only the index is not enough",
          "{named_by=--repository}to accept this repository unsigned, this time: --allow-unsigned",
          "{named_by=request.repositories}to accept this repository unsigned, this time: "
          "request.allow_unsigned",
          "{named_by=--layer system}to import it unsigned for all users: --unsigned",
          "{!remedy}{!file}to accept this repository unsigned: add \"unsigned\": true beside its "
          "\"location\" "
          "{repository} in the configuration",
          "{!remedy}until then, installed builds still open"},
     .exit_status = S::forbidden},
    {.name = {"EH-M11", "older than a version seen before"},
     .meaning = "A signed document is older than one seen before from the same repository: a mirror is out "
                "of date, or somebody replays an old document to bring withdrawn builds back.",
     .before = "the version in the signed comment against the newest one seen",
     .causes = {"{document} has version {found}: {problem}",
                "{document} has version {found}; at least {expected} is needed, because a newer one was seen "
                "before"},
     .remedies = {"{remedy}",
                  "{!remedy}use another mirror of {repository}, and report it to the operator of this one",
                  "{!remedy}the repository's publisher: publish from the folder that made the newer version, "
                  "never from an older copy",
                  "{!remedy}if the publisher confirms that a key was stolen: engine-cache trust forget "
                  "{repository|word}",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M12", "signed index has expired"},
     .meaning = "The date until which the index is valid has passed. Nothing new is installed from it; "
                "installed builds still open.",
     .before = "the dates in index.json and root.json",
     .causes = {"{build} is listed in an index that expired at {expired}; this machine's clock shows {clock}",
                "{build} is listed in an index that expired at {expired}", "the index expired at {expired}"},
     .remedies = {"check the clock of this machine",
                  "the repository's publisher: engine-manifest sign, then publish",
                  "without a network: --offline accepts it within policy.max_staleness_days"},
     .exit_status = S::not_fetched},
    {.name = {"EH-M13", "signed with a revoked key"},
     .meaning = "The repository's root has withdrawn the key that made the signature.",
     .before = "the list of revoked keys in root.json",
     .causes = {"{document} is signed with the key {key_id}, which its root has revoked"},
     .remedies = {"{remedy}",
                  "{!remedy}get the publisher's new key from a place you trust: engine-cache trust remove "
                  "{key_id}, then engine-cache trust add KEY --repository {repository|word}",
                  "{!remedy}the repository's publisher: sign with a key that is not revoked"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M14", "build is blocked"},
     .meaning = "The digest of the build, or of a part of it, is on a list of blocked digests, in a "
                "repository or in this machine's policy.",
     .before = "\"blocked\" of the indexes and of the policy, against archives, trees and installed builds",
     .causes = {"{build} is blocked: {reason}", "a build is blocked: {reason}"},
     .remedies = {"{?file}make a bundle of other builds: engine-cache export FILE BUILD",
                  "{!file}use another version; engine-cache remove {build} frees its space"},
     .exit_status = S::forbidden},
    {.name = {"EH-M15", "key file cannot be used"},
     .meaning = "A file or text given as a key is no minisign key, or its passphrase is wrong.",
     .before = "the format of the key, and the key's own check",
     .causes = {"{file} cannot be used as a key: {problem}", "the key file {file} cannot be read: {os_said}",
                "{file} has {size} bytes, more than any key"},
     .remedies = {"{remedy}",
                  "{!os_said}{!remedy}use minisign.pub, or the line in it that begins with RW; for signing, "
                  "minisign.key",
                  "{?os_said}name a file that exists and that this user can read"}},
    {.name = {"EH-M16", "manifest would fail for its users"},
     .meaning = "engine-manifest found something that would fail on the machines that use the manifest.",
     .before = "engine-manifest lint",
     .causes = {"{document}: {member}: {problem}", "{document}: {problem}"},
     .remedies = {"{remedy}", "correct {document}, then engine-manifest lint"}},
    {.name = {"EH-M17", "the repository cannot be changed that way"},
     .meaning = "The files to add, sign or publish with engine-manifest do not fit the repository.",
     .before = "the folder, and the files given",
     .causes = {"{file}: {problem}", "{folder}: {problem}"},
     .remedies = {"{remedy}", "see docs/publishing.md for all steps"}},
    {.name = {"EH-M18", "plan file has a mistake"},
     .meaning = "A plan of engine-manifest follow cannot be read, or names something that it does not have.",
     .before = "engine-manifest follow, before the package index is asked",
     .causes = {"{file}, line {line}, column {column}: {member}: {problem}; the nearest known name is "
                "\"{nearest}\"",
                "{file}, line {line}, column {column}: {member}: {problem}",
                "{file}, line {line}, column {column}: {problem}", "{file}: {problem}"},
     .remedies = {"{?nearest}write \"{nearest}\" in line {line} of {file}, if that is what was meant",
                  "{?line}correct line {line} of {file}", "correct {file}"},
     .exit_status = S::usage},
    {.name = {"EH-M19", "a release is not as the plan describes it"},
     .meaning =
         "A release of the package index differs from what the plan of a repository says of it, or its "
         "files are not what the index or their own lists state. No row is made of it.",
     .before =
         "directory, RECORD and METADATA of each wheel, the plan's layouts and licenses, and the digests "
         "that earlier runs saw",
     .causes =
         {"{project} {version}: {file}: {problem} ({license}: {license_file} has SHA-256 {actual}, the plan "
          "names {expected})",
          "{project} {version}: {file}: {problem}: {actual}, expected {expected}",
          "{project} {version}: {file}: {problem} ({archive_problem})",
          "{project} {version}: {file}: {problem}", "{project} {version}: {problem}"},
     .remedies = {"{remedy}"}},
    {.name = {"EH-M20", "published file has other bytes than before"},
     .meaning = "The package index lists a file under a name that had another digest before. An index never "
                "changes a file, so somebody replaced it, or the index is not the one that was asked before.",
     .before = "the digests of the manifest and of the plan's memory",
     .causes = {"{file} of {project} {version} has the digest {actual} now; it was {expected}"},
     .remedies = {"do not use {project} {version}: ask its publisher which digest is right, and check which "
                  "index pip is configured for",
                  "if the publisher confirms the new file, correct the digest in the manifest, or remove the "
                  "file's entry from the plan's memory"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M21", "release of the manifest is gone from the index"},
     .meaning = "The manifest has rows of a release that the package index does not offer. It may have been "
                "withdrawn because it does harm. The rows stay until a person decides.",
     .before = "the manifest against the releases of the package index",
     .causes = {"{?kept}the plan keeps {project} {version}, and it is not to be used: {reason}",
                "{project} {version} is in the manifest, and not to be used: {reason}",
                "{project} {version} is in the manifest, and the index lists no such release"},
     .remedies = {"{?kept}remove {version} from \"keep\" of the track {track}",
                  "find out why; to withdraw its rows, exclude it in \"versions\" of the track {track}: "
                  "\"!={version}\"",
                  "if it must be refused on machines that have it, add its digests to \"blocked\" of "
                  "repository.json"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-M22", "clock of this machine is behind"},
     .meaning = "The time of this machine is earlier than a time that the plan's memory holds, so that the "
                "age of a release cannot be known.",
     .before = "the clock, and the time at which the memory was written",
     .causes = {"this machine's clock shows {clock}, and the memory in {file} was written at {expected}"},
     .remedies = {"correct the clock, then run the command again"},
     .exit_status = S::usage},
    {.name = {"EH-M40", "no signed manifest lists the bundle's files"},
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
     .exit_status = S::wrong_bytes},
};

}  // namespace manifests_table

Table manifests_entries() { return {manifests_table::entries, S::usage, Category::request}; }

}  // namespace enginehost::explain
