/* The smallest useful engine: one device and the four operations every engine has.  Copy this file, rename
 * "sample", and grow it; docs/engine-authors.md goes through it step by step. */
#include <enginehost/engine_plugin.h>
#include <stdlib.h>
#include <string.h>

struct engine_instance {
  engine_entry facts[1];
};

/* Reports every failure: the status states what the caller does next, the text states why. */
static engine_status fail(engine_call* call, engine_status status, const char* message) {
  return call->fail(call, status, "", 0, message);
}

static float* floats(const engine_tensor* tensor) {
  return (float*)(void*)((char*)tensor->data + tensor->byte_offset);
}

static int is_float32(const engine_tensor* tensor) {
  return tensor->dtype.code == ENGINE_FLOAT && tensor->dtype.bits == 32 && tensor->dtype.lanes == 1;
}

static int same_shape(const engine_tensor* a, const engine_tensor* b) {
  return a->ndim == b->ndim &&
         (a->ndim == 0 || !memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->ndim));
}

/* Returns the number of elements, or -1 for a shape that no memory can hold.  An unchecked product would
 * overflow, and too little memory would be allocated.  If one extent is 0, the others may be anything.
 */
#define MOST_ELEMENTS (INT64_MAX / 2 / (int64_t)sizeof(float))
static int64_t elements(const engine_tensor* tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->ndim; i++)
    if (tensor->shape[i] == 0) return 0;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] < 0 || tensor->shape[i] > MOST_ELEMENTS / count) return -1;
    count *= tensor->shape[i];
  }
  return count;
}

/* A tensor given to the host: header, shape and data in one block, the data aligned to 64. */
static void release(engine_owned_tensor* tensor) { free(tensor); }

/* Only for a shape for which elements() is not -1. */
static engine_owned_tensor* new_like(const engine_tensor* like) {
  size_t shape_bytes = sizeof(int64_t) * (size_t)like->ndim;
  size_t head = (sizeof(engine_owned_tensor) + shape_bytes + 63) / 64 * 64;
  size_t bytes = ((size_t)elements(like) * sizeof(float) + 63) / 64 * 64;
  engine_owned_tensor* tensor = aligned_alloc(64, head + bytes);
  if (!tensor) return NULL;
  memset(tensor, 0, sizeof *tensor);
  tensor->major = ENGINE_DLPACK_MAJOR;
  tensor->minor = ENGINE_DLPACK_MINOR;
  tensor->release = release;
  tensor->tensor = *like;
  tensor->tensor.data = (char*)tensor + head;
  tensor->tensor.byte_offset = 0;
  if (like->ndim) tensor->tensor.shape = memcpy(tensor + 1, like->shape, shape_bytes);
  return tensor;
}

/* ---- operations ---- */
enum { ADD, MUL, MATMUL, RELU, OPERATION_COUNT };
static const char* const operation_names[OPERATION_COUNT] = {"Add", "Mul", "MatMul", "Relu"};

/* Work is done in slices; between two slices the caller may have canceled. */
static engine_status stopped(engine_call* call) {
  return call->is_cancelled(call) ? fail(call, ENGINE_CANCELLED, "The operation was stopped.") : ENGINE_OK;
}

static engine_status elementwise(int operation, const engine_tensor* a, const engine_tensor* b,
                                 const engine_tensor* y, engine_call* call) {
  int64_t count = elements(a);
  for (int64_t i = 0; i < count; i++) {
    if (i % 1000000 == 0 && stopped(call)) return ENGINE_CANCELLED;
    float x = floats(a)[i];
    floats(y)[i] = operation == ADD ? x + floats(b)[i] : operation == MUL ? x * floats(b)[i] : x > 0 ? x : 0;
  }
  return ENGINE_OK;
}

static engine_status matmul(const engine_tensor* a, const engine_tensor* b, const engine_tensor* y,
                            engine_call* call) {
  if (elements(y) == 0) return ENGINE_OK; /* it may have many rows without elements */
  int64_t rows = a->shape[0], inner = a->shape[1], columns = b->shape[1];
  for (int64_t i = 0; i < rows; i++) {
    if (stopped(call)) return ENGINE_CANCELLED;
    for (int64_t j = 0; j < columns; j++) {
      float sum = 0;
      for (int64_t k = 0; k < inner; k++) sum += floats(a)[i * inner + k] * floats(b)[k * columns + j];
      floats(y)[i * columns + j] = sum;
    }
  }
  return ENGINE_OK;
}

static engine_status check_inputs(int operation, const engine_tensor* const* inputs, size_t count,
                                  engine_call* call) {
  if (count != (operation == RELU ? 1u : 2u)) return fail(call, ENGINE_INVALID, "Wrong number of inputs.");
  for (size_t i = 0; i < count; i++) {
    if (inputs[i]->device.type != ENGINE_CPU) return fail(call, ENGINE_INVALID, "An input is not on cpu:0.");
    if (!is_float32(inputs[i])) return fail(call, ENGINE_UNSUPPORTED, "An input is not float32.");
    if (elements(inputs[i]) < 0)
      return fail(call, ENGINE_INVALID, "An input's shape is negative or too large.");
  }
  if (operation == RELU) return ENGINE_OK;
  int fits = operation == MATMUL
                 ? inputs[0]->ndim == 2 && inputs[1]->ndim == 2 && inputs[0]->shape[1] == inputs[1]->shape[0]
                 : same_shape(inputs[0], inputs[1]);
  return fits ? ENGINE_OK : fail(call, ENGINE_INVALID, "The shapes of the inputs do not fit each other.");
}

static engine_status run_operation(engine_instance* engine, const char* name,
                                   const engine_tensor* const* inputs, size_t input_count,
                                   const engine_entry* attributes, size_t attribute_count,
                                   engine_results* results, engine_call* call) {
  (void)engine, (void)attributes, (void)attribute_count;
  int operation = 0;
  while (operation < OPERATION_COUNT && strcmp(name, operation_names[operation]) != 0) operation++;
  if (operation == OPERATION_COUNT) {
    call->detail(call, "operation", name);
    return fail(call, ENGINE_UNSUPPORTED, "This engine knows Add, Mul, MatMul and Relu.");
  }
  engine_status status = check_inputs(operation, inputs, input_count, call);
  if (status != ENGINE_OK) return status;

  engine_tensor like = *inputs[0];
  int64_t matrix[2];
  if (operation == MATMUL) {
    matrix[0] = inputs[0]->shape[0];
    matrix[1] = inputs[1]->shape[1];
    like.shape = matrix;
  }
  if (elements(&like) < 0) return fail(call, ENGINE_INVALID, "The answer is larger than any memory.");
  /* The host may offer memory for the result; if not, give it ours. */
  engine_owned_tensor* mine = NULL;
  const engine_tensor* answer = results->place(results, 0, NULL, &like);
  if (!answer) {
    mine = new_like(&like);
    if (!mine) return fail(call, ENGINE_NO_MEMORY, "There is no memory for the answer.");
    answer = &mine->tensor;
  }
  status = operation == MATMUL ? matmul(inputs[0], inputs[1], answer, call)
                               : elementwise(operation, inputs[0], inputs[input_count - 1], answer, call);
  if (mine && status == ENGINE_OK) results->give(results, 0, NULL, mine);
  if (mine && status != ENGINE_OK) mine->release(mine);
  return status;
}

/* ---- devices and self-test: required ---- */
static uint32_t device_count(engine_instance* engine) { return (void)engine, 1; }

static engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                                 engine_call* call) {
  (void)engine;
  if (number != 0) return fail(call, ENGINE_INVALID, "There is one device, number 0.");
  engine_device_info info = {0};
  info.size = out->size;
  info.device.type = ENGINE_CPU;
  info.kind = "cpu";
  info.name = "any processor";
  info.architecture = info.driver = "";
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info); /* older hosts know less */
  return ENGINE_OK;
}

static const engine_tensor* place_nowhere(engine_results* results, uint32_t output, const char* name,
                                          const engine_tensor* like) {
  (void)results, (void)output, (void)name, (void)like;
  return NULL;
}

static void keep(engine_results* results, uint32_t output, const char* name, engine_owned_tensor* tensor) {
  (void)output, (void)name;
  *(engine_owned_tensor**)results->host_data = tensor;
}

static engine_status selftest(engine_instance* engine, int32_t level, engine_device device,
                              engine_call* call) {
  if (device.type != ENGINE_CPU || device.index != 0)
    return fail(call, ENGINE_INVALID, "The only device is cpu:0.");
  if (level < ENGINE_SELFTEST_GRAPH) return ENGINE_OK; /* this engine loads and opens nothing */
  float values[4] = {1, 2, 3, 4}, due[4] = {7, 10, 15, 22};
  int64_t shape[2] = {2, 2};
  engine_tensor tensor = {values, device, 2, {ENGINE_FLOAT, 32, 1}, shape, NULL, 0};
  const engine_tensor* inputs[2] = {&tensor, &tensor};
  engine_owned_tensor* product = NULL;
  engine_results results = {sizeof results, 0, &product, place_nowhere, keep};
  engine_status status = run_operation(engine, "MatMul", inputs, 2, NULL, 0, &results, call);
  if (status != ENGINE_OK) return status;
  int right = !memcmp(floats(&product->tensor), due, sizeof due);
  product->release(product);
  return right ? ENGINE_OK : fail(call, ENGINE_INTERNAL, "A 2x2 matrix product gave a wrong answer.");
}

/* ---- the engine ---- */
static engine_status create(const engine_host* host, const engine_entry* options, size_t option_count,
                            engine_instance** out, engine_call* call) {
  (void)host;
  *out = NULL;
  for (size_t i = 0; i < option_count; i++) { /* keys without a dot are common and may be ignored */
    if (!strchr(options[i].key, '.')) continue;
    call->detail(call, "option", options[i].key);
    return fail(call, ENGINE_INVALID, "This engine has no options of its own.");
  }
  engine_instance* engine = calloc(1, sizeof *engine);
  if (!engine) return fail(call, ENGINE_NO_MEMORY, "There is no memory for the engine.");
  engine->facts[0].key = "version";
  engine->facts[0].value = "1.0.0";
  *out = engine;
  return ENGINE_OK;
}

static void destroy(engine_instance* engine) { free(engine); }

static const engine_entry* facts(engine_instance* engine, size_t* count) {
  *count = 1;
  return engine->facts;
}

static const engine_device_v1 device_table = {device_count, device_info};
static const engine_selftest_v1 selftest_table = {selftest};
static const engine_op_v1 operation_table = {run_operation};

static const void* query(engine_instance* engine, const char* id) {
  (void)engine;
  if (!id) return NULL;
  if (!strcmp(id, ENGINE_DEVICE_V1)) return &device_table;
  if (!strcmp(id, ENGINE_SELFTEST_V1)) return &selftest_table;
  if (!strcmp(id, ENGINE_OP_V1)) return &operation_table;
  return NULL;
}

static const char* const capabilities[] = {"device.cpu", NULL};

/* Data, not a function: the host reads it from the file before it runs any code of it. */
const engine_plugin engine_plugin_v1 = {ENGINE_PLUGIN_MAGIC,
                                        sizeof(engine_plugin),
                                        ENGINE_ABI_MAJOR,
                                        ENGINE_ABI_MINOR,
                                        0,
                                        0,
                                        ENGINE_PLUGIN_UNLOADABLE,
                                        "sample",
                                        "1.0.0",
                                        "",
                                        capabilities,
                                        create,
                                        destroy,
                                        facts,
                                        query};
