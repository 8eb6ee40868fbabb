/* An engine with a processor and a fake device: "cuda:0" is host memory under another name.
 * DEVICE_BEHAVIOR, read at every operation, selects its behavior: "" works; "elsewhere" leaves its
 * results on the processor and reports that; "wrong" adds one; "lose" loses the device of this engine for
 * good; "sticky" reports CUDA's error 700, and so does every later call; "slow" takes 0.3 s on the device;
 * "dead" loses the device in every engine; "none" knows no operation; "crash" is a null pointer; "crash in a
 * run" and "exit in a run" end the process in the run of a model; "lose in a run" and "lose in a copy" lose
 * the device there, for good. With DEVICE_FILE the device exists while that file does. Without the file
 * "vanish" loses it, "vanish for good" loses it in this engine for ever, and "unavailable" reports that it is
 * not available. It runs models of the format "played": any file, with one input "x" of any type and shape.
 * The output "seen" holds as int64 whether the input came without strides, the distance of its data from a
 * multiple of its element's size, its rank, its lanes and the type of the model's device. Two runs of one
 * model at once fail. It returns incomplete answers with ENGINE_OK: "no model", "no description", "no
 * function", "no name" and "no shape" of the input, "rank -3" of the output when a model is loaded; "no
 * output", "output NULL", "output of rank -5", "output without shape", "output with gaps", "output
 * elsewhere", "output of bfloat16" and "output without release" when it runs; "no tensor" when one is made.
 * "lost in a test" fails each self-test as if the device were lost, while operations work.
 * "no gpu" offers only the processor. "no memory" reports that at each work of the device.
 * "logs" logs a detail and a warning when it is made, and a warning at each self-test. "gpu alone" offers no
 * processor.
 */
#include <enginehost/engine_plugin.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DEVICE_FLAGS
#define DEVICE_FLAGS 0
#endif

/* Most real engines list the processor first. */
#ifdef PROCESSOR_FIRST
#define PLAYED_GPU 1
#else
#define PLAYED_GPU 0
#endif

struct engine_instance {
  const engine_host* host;
  int lost;
};

static int behaves(const char* word) {
  const char* reported = getenv("DEVICE_BEHAVIOR");
  return reported != NULL && strcmp(reported, word) == 0;
}

static engine_status create(const engine_host* host, const engine_entry* options, size_t count,
                            engine_instance** out, engine_call* call) {
  (void)options, (void)count, (void)call;
  *out = calloc(1, sizeof **out);
  (*out)->host = host;
  if (behaves("logs")) {
    host->log(host, ENGINE_LOG_DEBUG, "played", "details");
    host->log(host, ENGINE_LOG_WARNING, "played", "made");
  }
  return ENGINE_OK;
}
static void destroy(engine_instance* engine) { free(engine); }
static const engine_entry* facts(engine_instance* engine, size_t* count) {
  static const engine_entry entries[] = {{"version", "1.0.0"}};
  (void)engine;
  *count = 1;
  return entries;
}

static uint32_t device_count(engine_instance* engine) {
  return (void)engine, behaves("gpu alone") || behaves("no gpu") ? 1 : 2;
}
static engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                                 engine_call* call) {
  (void)engine;
  if (number > 1) return call->fail(call, ENGINE_INVALID, "", 0, "no such device");
  const int is_gpu = number == PLAYED_GPU && !behaves("no gpu");
  out->device.type = is_gpu ? ENGINE_CUDA : ENGINE_CPU;
  out->device.index = 0;
  out->kind = is_gpu ? "cuda" : "cpu";
  out->name = is_gpu ? "Played GPU" : "processor";
  out->architecture = "", out->driver = "";
  out->memory_total = (uint64_t)8 << 30, out->memory_free = (uint64_t)6 << 30;
  return ENGINE_OK;
}

static engine_status reported(engine_instance* engine, int32_t type, engine_call* call) {
  if (type != ENGINE_CUDA) return ENGINE_OK;
  if (behaves("crash")) *(volatile int*)0 = 1;
  if (behaves("slow")) usleep(300000);
  if (behaves("no memory")) return call->fail(call, ENGINE_NO_MEMORY, "cuda", 2, "out of memory");
  if (behaves("dead")) return call->fail(call, ENGINE_LOST, "", 0, "the device has fallen off the bus");
  const char* file = getenv("DEVICE_FILE");
  if (file != NULL && access(file, F_OK) != 0) {
    if (behaves("unavailable")) return call->fail(call, ENGINE_UNAVAILABLE, "", 0, "no such device");
    if (behaves("vanish")) return call->fail(call, ENGINE_LOST, "", 0, "the device has fallen off the bus");
    if (behaves("vanish for good")) engine->lost = 1;
  }
  if (behaves("lose")) engine->lost = 1;
  if (behaves("sticky")) engine->lost = 2;
  if (engine->lost == 1) return call->fail(call, ENGINE_LOST, "", 0, "the device has fallen off the bus");
  if (engine->lost == 2) return call->fail(call, ENGINE_INTERNAL, "cuda", 700, "an illegal memory access");
  return ENGINE_OK;
}

static engine_status selftest(engine_instance* engine, int32_t level, engine_device device,
                              engine_call* call) {
  if (behaves("logs")) engine->host->log(engine->host, ENGINE_LOG_WARNING, NULL, "tested");
  if (device.type == ENGINE_CUDA && behaves("lost in a test"))
    return call->fail(call, ENGINE_LOST, "", 0, "the device has fallen off the bus");
  return (void)level, reported(engine, device.type, call);
}

static uint64_t bytes_of(const engine_tensor* tensor) {
  uint64_t bytes = tensor->dtype.bits / 8;
  for (int32_t i = 0; i < tensor->ndim; ++i) bytes *= (uint64_t)tensor->shape[i];
  return bytes;
}
static void release(engine_owned_tensor* self) {
  free(self->owner);
  free(self);
}
static engine_status tensor_create(engine_instance* engine, const engine_tensor* like,
                                   engine_owned_tensor** out, engine_call* call) {
  (void)engine, (void)call;
  engine_owned_tensor* made = calloc(1, sizeof *made);
  /* Shape and elements in one block, since the C runtime of Windows lacks aligned_alloc. */
  const size_t shape_bytes = (size_t)like->ndim * sizeof *like->shape;
  char* const block = malloc(shape_bytes + 64 + (size_t)bytes_of(like));
  int64_t* const shape = (int64_t*)block;
  memcpy(shape, like->shape, shape_bytes);
  made->major = ENGINE_DLPACK_MAJOR;
  made->owner = block;
  made->release = release;
  made->tensor = *like;
  made->tensor.shape = shape;
  made->tensor.strides = NULL;
  made->tensor.byte_offset = 0;
  made->tensor.data = (void*)(((uintptr_t)block + shape_bytes + 63) / 64 * 64);
  *out = made;
  return ENGINE_OK;
}
static engine_status tensor_asked(engine_instance* engine, const engine_tensor* like,
                                  engine_owned_tensor** out, engine_call* call) {
  *out = NULL;
  return behaves("no tensor") ? ENGINE_OK : tensor_create(engine, like, out, call);
}
static engine_status tensor_copy(engine_instance* engine, const engine_tensor* from, const engine_tensor* to,
                                 engine_call* call) {
  if (behaves("lose in a copy")) {
    engine->lost = 1;
    return call->fail(call, ENGINE_LOST, "", 0, "the device has fallen off the bus");
  }
  memcpy(to->data, from->data, bytes_of(from));
  return ENGINE_OK;
}

static engine_status op_run(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) {
  (void)attributes, (void)attribute_count;
  if (behaves("none") || count != 2 || strcmp(name, "MatMul") != 0)
    return call->fail(call, ENGINE_UNSUPPORTED, "", 0, "no such operation");
  const engine_status status = reported(engine, inputs[0]->device.type, call);
  if (status != ENGINE_OK) return status;
  engine_tensor like = *inputs[0];
  if (behaves("elsewhere")) like.device.type = ENGINE_CPU;
  engine_owned_tensor* made = NULL;
  tensor_create(engine, &like, &made, call);
  const int64_t rows = inputs[0]->shape[0], inner = inputs[0]->shape[1], columns = inputs[1]->shape[1];
  const float *a = inputs[0]->data, *b = inputs[1]->data;
  float* c = made->tensor.data;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float sum = behaves("wrong") && i == rows - 1 ? 1 : 0;
      for (int64_t k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
      c[i * columns + j] = sum;
    }
  results->give(results, 0, NULL, made);
  return ENGINE_OK;
}

struct engine_model {
  engine_instance* engine;
  engine_device device;
  atomic_int running;
};

static engine_status model_load(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                                engine_call* call) {
  (void)call;
  *out = NULL;
  if (behaves("no model")) return ENGINE_OK;
  *out = calloc(1, sizeof **out);
  (*out)->engine = engine;
  (*out)->device = desc->device;
  return ENGINE_OK;
}
static void model_unload(engine_model* model) { free(model); }
static const engine_model_info* model_info(engine_model* model) {
  static const int64_t five[] = {5};
  static const engine_port any = {"x", NULL, NULL, -1, {0, 0, 1}, 0, 0},
                           nameless = {NULL, NULL, NULL, -1, {0, 0, 1}, 0, 0},
                           shapeless = {"x", NULL, NULL, 2, {0, 0, 1}, 0, 0};
  static const engine_port seen = {"seen", five, NULL, 1, {ENGINE_INT, 64, 1}, 0, 0},
                           ranked = {"seen", five, NULL, -3, {ENGINE_INT, 64, 1}, 0, 0};
  static const engine_function functions[] = {{"", &any, &seen, 1, 1},
                                              {"", &nameless, &seen, 1, 1},
                                              {"", &shapeless, &seen, 1, 1},
                                              {"", &any, &ranked, 1, 1}};
  static const engine_model_info infos[] = {{sizeof *infos, 0, &functions[0], 1, NULL, 0},
                                            {sizeof *infos, 0, &functions[1], 1, NULL, 0},
                                            {sizeof *infos, 0, &functions[2], 1, NULL, 0},
                                            {sizeof *infos, 0, &functions[3], 1, NULL, 0},
                                            {sizeof *infos, 0, functions, 0, NULL, 0}};
  /* "long name" and "long name, no output": a megabyte for input, output and each dimension */
  static char name[1 << 20];
  static const char* const names[] = {name, name};
  static const int64_t open_ended[] = {-1, -1};
  static const engine_port long_in = {name, open_ended, names, 2, {0, 0, 1}, 0, 0},
                           long_out = {name, NULL, NULL, -1, {ENGINE_INT, 64, 1}, 0, 0};
  static const engine_function long_function = {"", &long_in, &long_out, 1, 1};
  static const engine_model_info long_info = {sizeof long_info, 0, &long_function, 1, NULL, 0};
  memset(name, 'n', sizeof name - 1);
  (void)model;
  if (behaves("long name") || behaves("long name, no output")) return &long_info;
  if (behaves("no description")) return NULL;
  return &infos[behaves("no name")       ? 1
                : behaves("no shape")    ? 2
                : behaves("rank -3")     ? 3
                : behaves("no function") ? 4
                                         : 0];
}
static engine_status model_run(engine_model* model, const engine_run* what, engine_results* results,
                               engine_call* call) {
  if (what->input_count != 1) return call->fail(call, ENGINE_INVALID, "", 0, "x is missing");
  if (behaves("crash in a run")) abort();
  if (behaves("exit in a run")) exit(0);
  if (behaves("lose in a run")) model->engine->lost = 1;
  if (behaves("lose in a run") || model->engine->lost)
    return call->fail(call, ENGINE_LOST, "", 0, "the device is gone");
  if (atomic_fetch_add(&model->running, 1) != 0)
    return call->fail(call, ENGINE_INTERNAL, "", 0, "two runs of one model at once");
  const engine_tensor* const x = what->inputs[0].tensor;
  const uint64_t element = x->dtype.bits < 8 ? 1 : x->dtype.bits / 8;
  const int64_t five[] = {5};
  const engine_tensor like = {NULL, {ENGINE_CPU, 0}, 1, {ENGINE_INT, 64, 1}, five, NULL, 0};
  engine_owned_tensor* seen = NULL;
  tensor_create(model->engine, &like, &seen, call);
  int64_t* const reported = seen->tensor.data;
  reported[0] = x->strides == NULL;
  reported[1] = (int64_t)(((uintptr_t)x->data + x->byte_offset) % element);
  reported[2] = x->ndim;
  reported[3] = x->dtype.lanes;
  reported[4] = model->device.type;
  usleep(20000); /* long enough for another to come in */
  if (behaves("output of rank -5")) seen->tensor.ndim = -5;
  if (behaves("output without shape")) seen->tensor.shape = NULL;
  static const int64_t two[] = {2};
  if (behaves("output with gaps")) seen->tensor.strides = two;
  if (behaves("output of bfloat16")) seen->tensor.dtype = (engine_dtype){ENGINE_BFLOAT, 16, 1};
  if (behaves("output elsewhere")) seen->tensor.device.type = ENGINE_CUDA;
  const int none = behaves("no output") || behaves("long name, no output");
  if (none || behaves("output NULL") || behaves("output without release")) {
    static int64_t kept[5];
    static engine_owned_tensor unreleased;
    release(seen);
    unreleased.major = ENGINE_DLPACK_MAJOR;
    unreleased.tensor = like;
    unreleased.tensor.data = kept;
    unreleased.tensor.shape = kept;
    kept[0] = 5;
    if (!none) results->give(results, 0, NULL, behaves("output NULL") ? NULL : &unreleased);
  } else {
    results->give(results, 0, NULL, seen);
  }
  atomic_fetch_sub(&model->running, 1);
  return ENGINE_OK;
}

static const void* query(engine_instance* engine, const char* id) {
  static const engine_device_v1 devices = {device_count, device_info};
  static const engine_selftest_v1 test = {selftest};
  static const engine_tensor_v1 tensors = {tensor_asked, tensor_copy};
  static const engine_op_v1 operations = {op_run};
  static const engine_model_v1 models = {model_load, model_unload, model_info, model_run};
  (void)engine;
  if (id == NULL) return NULL;
  if (strcmp(id, ENGINE_DEVICE_V1) == 0) return &devices;
  if (strcmp(id, ENGINE_SELFTEST_V1) == 0) return &test;
  if (strcmp(id, ENGINE_TENSOR_V1) == 0) return &tensors;
  if (strcmp(id, ENGINE_OP_V1) == 0) return &operations;
  if (strcmp(id, ENGINE_MODEL_V1) == 0) return &models;
  return NULL;
}
static const char* const capabilities[] = {"device.cpu", "device.cuda", "format.played", NULL};
ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {ENGINE_PLUGIN_MAGIC,
                                                      sizeof(engine_plugin),
                                                      ENGINE_ABI_MAJOR,
                                                      0,
                                                      0,
                                                      0,
                                                      DEVICE_FLAGS,
                                                      "played",
                                                      "1.0.0",
                                                      "test",
                                                      capabilities,
                                                      create,
                                                      destroy,
                                                      facts,
                                                      query};
