// The devices of a build: which of them its engine listed, which computed in the probe, and why others did
// not.
//
// A build for GPUs whose GPUs are missing or fail is not what was asked for, although its engine also
// computes on the processor. Its record says so, together with what holds for the processor
// (docs/decisions/040-gpus-that-do-not-work.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/probe.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::open {

struct BuildDevices {
  bool is_known = false;                  // a probe or a record says the rest
  std::vector<std::string> accelerators;  // that the engine listed: "cuda:0"
  std::vector<std::string> working;       // devices that computed, processors too
  std::vector<Diagnosis> unusable;        // accelerators that did not, each with "device"

  // Returns true if an accelerator of the kind computed ("cuda"); for other kinds than NVIDIA's, AMD's and
  // Apple's, if any did.
  bool works_on(std::string_view kind) const;
  bool works_on_processor() const;
  // Returns true if the failure of one of them may be over in a moment: out of memory, another process has
  // it.
  bool is_of_the_moment() const;
  // Returns why none of the devices that the name means works ("cuda:0", "gpu"); null if one does, or if the
  // engine lists none.
  const Diagnosis* why_not(std::string_view wanted) const;
  // Removes the unusable ones from an engine's list.
  void keep_usable(std::vector<load::Device>& devices) const;
};

// Returns the kind of device that the build is for; empty: the processor.
std::string accelerator_of(const manifest::Build& build);

// The members "accelerators", "tested" and "unusable" of a record's facts. There are none for an engine
// without accelerators whose build is for the processor.
void add_to_facts(Json& facts, const BuildDevices& devices, std::string_view accelerator);
BuildDevices devices_from_facts(const Json& facts);
// Returns true if such facts say of every device that the request may use whether it works.
bool say_enough(const Json& facts, std::string_view accelerator, const std::vector<std::string>& wanted);

// Returns the failure of an accelerator's self-test as one of the device: its own reason, else EH-G23, EH-G12
// without memory, or EH-G16 for a device that is not listed.
Diagnosis failure_of_device(Diagnosis failure, const load::TestedDevice& tested,
                            const std::vector<load::Device>& listed);
// Returns EH-G16 if this process's engine lacks accelerators that the probe or the record lists, or lists
// more than the record. `probed`: the probe was just now.
Result<void> check_same_list(const BuildDevices& known, const std::vector<load::Device>& listed, bool probed);

}  // namespace enginehost::open
