// A library with TensorFlow's C API and without TensorFlow, for tests of the adapter's choice of a device. It
// has kernels for GPUs. As the real library does, it gives a session the GPUs that its configuration asks
// for, and refuses a second GPU in one process. Controlled by these variables of the library:
//   played_without_cuda  1: sessions have no GPU, as without CUDA's libraries
//   played_failure       1: the message with which the next session fails; then empty
//   played_on_cpu        1: no operation runs on the GPU, 2: only one does not
// played_config is the configuration of the last session.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct status {
  int code;
  char message[256];
};
struct buffer {
  void* data;
  size_t length;
  void (*deallocate)(void*, size_t);
};
struct tensor {
  int64_t sizes[8];
  int rank;
  size_t length;
  float* data;
};
struct session {
  int has_gpu;
};

EXPORT int played_without_cuda, played_on_cpu;
EXPORT char played_failure[256], played_config[4096];
EXPORT size_t played_config_length;
static char first_gpu_config[4096];

static int fail(struct status* status, int code, const char* message) {
  status->code = code;
  snprintf(status->message, sizeof status->message, "%.255s", message);
  return code;
}
static void release(void* data, size_t length) {
  (void)length;
  free(data);
}
static void fill(struct buffer* buffer, const void* bytes, size_t length) {
  buffer->data = malloc(length + 1);
  memcpy(buffer->data, bytes, length);
  buffer->length = length;
  buffer->deallocate = release;
}

EXPORT const char* TF_Version(void) { return "2.21.0"; }
EXPORT void* TF_NewStatus(void) { return calloc(1, sizeof(struct status)); }
EXPORT void TF_DeleteStatus(void* status) { free(status); }
EXPORT int TF_GetCode(const struct status* status) { return status->code; }
EXPORT const char* TF_Message(const struct status* status) { return status->message; }
EXPORT struct buffer* TF_NewBuffer(void) { return calloc(1, sizeof(struct buffer)); }
EXPORT void TF_DeleteBuffer(struct buffer* buffer) {
  free(buffer->data);
  free(buffer);
}
EXPORT struct buffer* TF_GetAllOpList(void) { return TF_NewBuffer(); }
EXPORT struct buffer* TF_GetRegisteredKernelsForOp(const char* operation, struct status* status) {
  struct buffer* list = TF_NewBuffer();
  fail(status, 0, "");
  // KernelList: kernel 1 { op 1, device_type 2 }
  if (strcmp(operation, "MatMul") == 0) fill(list, "\x0a\x0d\x0a\x06MatMul\x12\x03GPU", 15);
  return list;
}

EXPORT void* TF_NewGraph(void) { return malloc(1); }
EXPORT void TF_DeleteGraph(void* graph) { free(graph); }
EXPORT void* TF_GraphOperationByName(void* graph, const char* name) {
  (void)name;
  return graph;
}
EXPORT int TF_OperationNumOutputs(void* operation) {
  (void)operation;
  return 1;
}
EXPORT void* TF_NewOperation(void* graph, const char* type, const char* name) {
  (void)type;
  (void)name;
  return graph;
}
EXPORT void TF_SetAttrType(void) {}
EXPORT void TF_AddInput(void) {}
EXPORT void* TF_FinishOperation(void* description, struct status* status) {
  fail(status, 0, "");
  return description;
}

EXPORT void* TF_NewSessionOptions(void) { return malloc(1); }
EXPORT void TF_DeleteSessionOptions(void* options) { free(options); }
EXPORT void TF_SetConfig(void* options, const void* bytes, size_t length, struct status* status) {
  (void)options;
  memcpy(played_config, bytes, length);
  played_config_length = length;
  fail(status, 0, "");
}
static void* new_session(struct status* status) {
  // gpu_options is field 6; a session on the CPU begins with device_count, field 1.
  const int wants_gpu = played_config[0] == 0x32;
  fail(status, 0, "");
  if (played_failure[0] != '\0') {
    fail(status, 13, played_failure);
    played_failure[0] = '\0';
    return NULL;
  }
  if (wants_gpu && first_gpu_config[0] == '\0') memcpy(first_gpu_config, played_config, sizeof played_config);
  if (wants_gpu && memcmp(first_gpu_config, played_config, played_config_length) != 0) {
    fail(status, 6,
         "TensorFlow device (GPU:0) is being mapped to multiple devices (1 now, and 0 previously), which is "
         "not supported.");
    return NULL;
  }
  struct session* session = malloc(sizeof *session);
  session->has_gpu = wants_gpu && !played_without_cuda;
  return session;
}
EXPORT void* TF_NewSession(void* graph, const void* options, struct status* status) {
  (void)graph;
  (void)options;
  return new_session(status);
}
// The folder's file "meta_graph" is the MetaGraphDef.
EXPORT void* TF_LoadSessionFromSavedModel(const void* options, const void* run_options, const char* folder,
                                          const char* const* tags, int tag_count, void* graph,
                                          struct buffer* meta_graph, struct status* status) {
  char path[4096], bytes[65536];
  (void)options, (void)run_options, (void)tags, (void)tag_count, (void)graph;
  snprintf(path, sizeof path, "%s/meta_graph", folder);
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fail(status, 5, path);
    return NULL;
  }
  fill(meta_graph, bytes, fread(bytes, 1, sizeof bytes, file));
  fclose(file);
  return new_session(status);
}
EXPORT void TF_CloseSession(void) {}
EXPORT void TF_DeleteSession(struct session* session, struct status* status) {
  (void)status;
  free(session);
}
EXPORT void* TF_SessionListDevices(struct session* session, struct status* status) {
  fail(status, 0, "");
  return session;
}
EXPORT void TF_DeleteDeviceList(void) {}
EXPORT int TF_DeviceListCount(const struct session* session) { return session->has_gpu ? 2 : 1; }
EXPORT const char* TF_DeviceListName(const void* list, int index, struct status* status) {
  (void)list;
  fail(status, 0, "");
  return index == 0 ? "/job:localhost/replica:0/task:0/device:CPU:0"
                    : "/job:localhost/replica:0/task:0/device:GPU:0";
}
EXPORT const char* TF_DeviceListType(const void* list, int index, struct status* status) {
  (void)list;
  fail(status, 0, "");
  return index == 0 ? "CPU" : "GPU";
}

// One field of length below 128 whose bytes are text: its key, its length, its bytes.
static size_t field(char* out, int number, const char* bytes, size_t length) {
  out[0] = (char)(number << 3 | 2);
  out[1] = (char)length;
  memcpy(out + 2, bytes, length);
  return length + 2;
}
// DeviceStepStats: device 1, node_stats 2 { node_name 1, timeline_label 8 }
static size_t device_stats(char* out, const char* device, const char* name, const char* label) {
  char node[128], all[256];
  size_t length = field(node, 1, name, strlen(name));
  length += field(node + length, 8, label, strlen(label));
  size_t total = field(all, 1, device, strlen(device));
  total += field(all + total, 2, node, length);
  return field(out, 1, all, total);
}
// Every result is a tensor [1, 2] of the numbers 7 and 10.
EXPORT void TF_SessionRun(struct session* session, const struct buffer* run_options, const void* inputs,
                          struct tensor* const* input_values, int input_count, const void* outputs,
                          struct tensor** output_values, int output_count, const void* const* targets,
                          int target_count, struct buffer* run_metadata, struct status* status) {
  (void)session, (void)run_options, (void)inputs, (void)input_values, (void)input_count, (void)outputs;
  (void)targets, (void)target_count;
  fail(status, 0, "");
  for (int i = 0; i < output_count; i++) {
    struct tensor* made = calloc(1, sizeof *made);
    made->rank = 2;
    made->sizes[0] = 1;
    made->sizes[1] = 2;
    made->length = 2 * sizeof(float);
    made->data = malloc(made->length);
    made->data[0] = 7;
    made->data[1] = 10;
    output_values[i] = made;
  }
  if (run_metadata == NULL) return;
  char step[1024], metadata[1280];
  size_t length = device_stats(step, "/job:j/device:CPU:0", "arg", "arg = _Arg()");
  if (played_on_cpu != 1)
    length += device_stats(step + length, "/job:j/device:GPU:0", "product", "product = MatMul(x, w)");
  if (played_on_cpu != 0)
    length += device_stats(step + length, "/job:j/device:CPU:0", "upper", "upper = StringUpper(x)");
  metadata[0] = 0x0a;  // step_stats 1, with a length of two bytes
  metadata[1] = (char)((length & 127) | 128);
  metadata[2] = (char)(length >> 7);
  memcpy(metadata + 3, step, length);
  fill(run_metadata, metadata, length + 3);
}

EXPORT struct tensor* TF_AllocateTensor(int type, const int64_t* sizes, int rank, size_t length) {
  struct tensor* made = calloc(1, sizeof *made);
  (void)type;
  made->rank = rank;
  memcpy(made->sizes, sizes, (size_t)rank * sizeof *sizes);
  made->length = length;
  made->data = malloc(length + 1);
  return made;
}
EXPORT struct tensor* TF_NewTensor(int type, const int64_t* sizes, int rank, void* data, size_t length,
                                   void (*free_data)(void*, size_t, void*), void* argument) {
  struct tensor* made = TF_AllocateTensor(type, sizes, rank, length);
  memcpy(made->data, data, length);
  free_data(data, length, argument);
  return made;
}
EXPORT void TF_DeleteTensor(struct tensor* tensor) {
  free(tensor->data);
  free(tensor);
}
EXPORT struct tensor* TF_TensorMaybeMove(struct tensor* tensor) { return tensor; }
EXPORT int TF_TensorType(const struct tensor* tensor) {
  (void)tensor;
  return 1;  // float
}
EXPORT int TF_NumDims(const struct tensor* tensor) { return tensor->rank; }
EXPORT int64_t TF_Dim(const struct tensor* tensor, int axis) { return tensor->sizes[axis]; }
EXPORT size_t TF_TensorByteSize(const struct tensor* tensor) { return tensor->length; }
EXPORT void* TF_TensorData(const struct tensor* tensor) { return tensor->data; }
EXPORT void TF_StringInit(void) {}
EXPORT void TF_StringCopy(void) {}
EXPORT const char* TF_StringGetDataPointer(const void* text) {
  (void)text;
  return "";
}
EXPORT size_t TF_StringGetSize(const void* text) {
  (void)text;
  return 0;
}
EXPORT void TF_StringDealloc(void) {}
