#include "host/manifest/requirements_reader.hpp"

namespace enginehost::manifest {
namespace {

CudaRequirement read_cuda(Reading& reading, const Json& object, std::string place) {
  CudaRequirement cuda;
  Fields fields(reading, object, std::move(place));
  fields.text("toolkit", Need::required, is_short_version, cuda.toolkit);
  fields.texts("sass", Need::optional, is_capability, cuda.sass);
  fields.texts("ptx", Need::optional, is_capability, cuda.ptx);
  fields.text("target", Need::optional, is_word, cuda.target);
  fields.warn_of_unknown();
  return cuda;
}

RocmRequirement read_rocm(Reading& reading, const Json& object, std::string place) {
  RocmRequirement rocm;
  Fields fields(reading, object, std::move(place));
  fields.text("version", Need::required, is_version_bound, rocm.version);
  fields.texts("gfx", Need::optional, is_gfx, rocm.gfx);
  fields.warn_of_unknown();
  return rocm;
}

}  // namespace

Requirements read_requirements(Reading& reading, const Json& object, std::string place) {
  Requirements requirements;
  Fields fields(reading, object, std::move(place));
  fields.text("libc", Need::optional, is_word, requirements.libc);
  fields.text("glibc", Need::optional, is_version_bound, requirements.glibc);
  fields.text("glibcxx", Need::optional, is_version_bound, requirements.glibcxx);
  fields.text("cxxabi", Need::optional, is_version_bound, requirements.cxxabi);
  fields.text("os_version", Need::optional, is_version_bound, requirements.os_version);
  fields.text("vcruntime", Need::optional, is_version_bound, requirements.vcruntime);
  fields.text("driver", Need::optional, is_version_bound, requirements.driver);
  fields.texts("cpu", Need::optional, is_word, requirements.cpu);
  fields.texts("libraries", Need::optional, is_file_name, requirements.libraries);
  fields.flag("metal", requirements.metal);
  std::optional<std::uint64_t> bytes;
  fields.size("memory", Need::optional, bytes);
  requirements.memory = bytes.value_or(0);
  bytes.reset();
  fields.size("device_memory", Need::optional, bytes);
  requirements.device_memory = bytes.value_or(0);
  if (const Json* cuda = fields.object("cuda", Need::optional))
    requirements.cuda = read_cuda(reading, *cuda, fields.place_of("cuda"));
  if (const Json* rocm = fields.object("rocm", Need::optional))
    requirements.rocm = read_rocm(reading, *rocm, fields.place_of("rocm"));
  for (const std::string& name : fields.warn_of_unknown())
    requirements.unknown.emplace_back(name, object[name].dump());
  return requirements;
}

}  // namespace enginehost::manifest
