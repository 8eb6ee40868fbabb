// Tensors of the ABI are DLPack 1.0 byte for byte. The structs of DLPack are declared here from its
// specification (dmlc.github.io/dlpack, "C API"); engines bring dlpack.h in versions that differ behind one
// include guard.
#include <enginehost/engine_plugin.h>
#include <gtest/gtest.h>

#include <cstring>

namespace dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct Device {
  std::int32_t device_type;  // an enum of 32 bits in DLPack
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor dl_tensor;
};

}  // namespace dlpack

namespace {

template <class To, class From>
To same_bytes(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

TEST(DlPack, ATensorCopiedToDlpackByMemcpyMeansTheSame) {
  float values[6] = {};
  const std::int64_t shape[2] = {2, 3};
  const engine_tensor ours{values, {ENGINE_CUDA, 3}, 2, {ENGINE_FLOAT, 32, 1}, shape, nullptr, 8};
  const auto theirs = same_bytes<dlpack::Tensor>(ours);
  EXPECT_EQ(theirs.data, values);
  EXPECT_EQ(theirs.device.device_type, 2);  // kDLCUDA
  EXPECT_EQ(theirs.device.device_id, 3);
  EXPECT_EQ(theirs.ndim, 2);
  EXPECT_EQ(theirs.dtype.code, 2);  // kDLFloat
  EXPECT_EQ(theirs.dtype.bits, 32);
  EXPECT_EQ(theirs.dtype.lanes, 1);
  EXPECT_EQ(theirs.shape, shape);
  EXPECT_EQ(theirs.strides, nullptr);
  EXPECT_EQ(theirs.byte_offset, 8U);
}

TEST(DlPack, ATensorCopiedFromDlpackByMemcpyMeansTheSame) {
  std::uint8_t values[4] = {};
  std::int64_t shape[1] = {4};
  const dlpack::Tensor theirs{values, {8, 1}, 1, {1, 8, 1}, shape, nullptr, 2};
  const auto ours = same_bytes<engine_tensor>(theirs);
  EXPECT_EQ(ours.data, values);
  EXPECT_EQ(ours.device.type, ENGINE_METAL);
  EXPECT_EQ(ours.device.index, 1);
  EXPECT_EQ(ours.ndim, 1);
  EXPECT_EQ(ours.dtype.code, ENGINE_UINT);
  EXPECT_EQ(ours.dtype.bits, 8);
  EXPECT_EQ(ours.shape, shape);
  EXPECT_EQ(ours.byte_offset, 2U);
}

int released = 0;

TEST(DlPack, AnOwnedTensorIsReleasedThroughDlpacksDeleter) {
  engine_owned_tensor ours{};
  ours.major = ENGINE_DLPACK_MAJOR;
  ours.minor = ENGINE_DLPACK_MINOR;
  ours.owner = &released;
  ours.release = [](engine_owned_tensor* self) noexcept { ++*static_cast<int*>(self->owner); };
  ours.flags = ENGINE_TENSOR_READ_ONLY;
  ours.tensor.ndim = 7;
  auto theirs = same_bytes<dlpack::ManagedTensorVersioned>(ours);
  EXPECT_EQ(theirs.version.major, 1U);
  EXPECT_EQ(theirs.version.minor, 0U);
  EXPECT_EQ(theirs.manager_ctx, &released);
  EXPECT_EQ(theirs.flags, 1U);  // DLPACK_FLAG_BITMASK_READ_ONLY
  EXPECT_EQ(theirs.dl_tensor.ndim, 7);
  auto back = same_bytes<engine_owned_tensor>(theirs);
  back.release(&back);
  EXPECT_EQ(released, 1);
}

TEST(DlPack, DeviceAndTypeNumbersAreDlpacks) {
  // kDLCPU 1, kDLCUDA 2, kDLCUDAHost 3, kDLVulkan 7, kDLMetal 8, kDLROCM 10, kDLROCMHost 11, kDLExtDev 12,
  // kDLCUDAManaged 13, kDLOneAPI 14; kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLComplex 5, kDLBool 6.
  const int devices[] = {ENGINE_CPU,          ENGINE_CUDA,  ENGINE_CUDA_HOST, ENGINE_VULKAN,
                         ENGINE_METAL,        ENGINE_ROCM,  ENGINE_ROCM_HOST, ENGINE_OTHER_DEVICE,
                         ENGINE_CUDA_MANAGED, ENGINE_ONEAPI};
  const int expected_devices[] = {1, 2, 3, 7, 8, 10, 11, 12, 13, 14};
  for (std::size_t i = 0; i < std::size(devices); i++) EXPECT_EQ(devices[i], expected_devices[i]);
  const int types[] = {ENGINE_INT, ENGINE_UINT, ENGINE_FLOAT, ENGINE_BFLOAT, ENGINE_COMPLEX, ENGINE_BOOL};
  const int expected_types[] = {0, 1, 2, 4, 5, 6};
  for (std::size_t i = 0; i < std::size(types); i++) EXPECT_EQ(types[i], expected_types[i]);
  EXPECT_GT(ENGINE_STRING, 100) << "far from the codes DLPack hands out";
}

}  // namespace
