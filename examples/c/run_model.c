/* Opens an engine, lists its devices and runs a model with DLPack tensors: run_model MODEL [ENGINE]
 *
 * With CMake: see CMakeLists.txt. With pkg-config:
 *   export PKG_CONFIG_PATH=<prefix>/lib/pkgconfig
 *   cc -std=c99 run_model.c -o run_model $(pkg-config --cflags --libs enginehost) -Wl,-rpath,<prefix>/lib
 *
 * dlpack.h comes from Debian's libdlpack-dev or from any engine. */
#include <dlpack/dlpack.h>
#include <enginehost/enginehost.h>
#include <stdio.h>

/* Prints a failure as one screen of text: code, cause, evidence and remedy. */
static int give_up(enginehost_status status, enginehost_error* error) {
  fprintf(stderr, "%s\n", error ? enginehost_error_text(error) : "out of memory");
  enginehost_error_free(error);
  return status;
}

static enginehost_status print_devices(const enginehost_engine* engine, enginehost_error** error) {
  for (size_t i = 0; i < enginehost_engine_device_count(engine); i++) {
    enginehost_device device = {0};
    device.size = sizeof device;
    enginehost_status status = enginehost_engine_device(engine, i, &device, error);
    if (status != ENGINEHOST_OK) return status;
    printf("device %s %s\n", device.name, device.description);
  }
  return ENGINEHOST_OK;
}

static void print_tensor(const char* name, const DLTensor* tensor) {
  size_t count = 1;
  printf("%s [", name);
  for (int i = 0; i < tensor->ndim; i++) {
    printf("%s%lld", i > 0 ? ", " : "", (long long)tensor->shape[i]);
    count *= (size_t)tensor->shape[i];
  }
  printf("] =");
  const float* values = (const float*)((const char*)tensor->data + tensor->byte_offset);
  for (size_t i = 0; i < count; i++) printf(" %g", (double)values[i]);
  printf("\n");
}

/* The model of this folder takes pairs of numbers. */
static enginehost_status run(enginehost_model* model, enginehost_error** error) {
  float numbers[4] = {1, 2, -1, 4};
  int64_t shape[2] = {2, 2};
  DLTensor x = {0};
  x.data = numbers;
  x.device.device_type = kDLCPU;
  x.ndim = 2;
  x.dtype.code = kDLFloat;
  x.dtype.bits = 32;
  x.dtype.lanes = 1;
  x.shape = shape;
  const enginehost_input input = {"x", &x};

  enginehost_outputs* outputs = NULL;
  enginehost_status status = enginehost_model_run(model, &input, 1, NULL, &outputs, error);
  if (status != ENGINEHOST_OK) return status;
  for (size_t i = 0; i < enginehost_outputs_count(outputs); i++)
    print_tensor(enginehost_outputs_name(outputs, i), enginehost_outputs_tensor(outputs, i));
  enginehost_outputs_free(outputs);
  return ENGINEHOST_OK;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s MODEL [ENGINE]\n", argv[0]);
    return ENGINEHOST_INVALID;
  }
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = argc == 3 ? argv[2] : "reference";

  enginehost_error* error = NULL;
  enginehost_engine* engine = NULL;
  enginehost_status status = enginehost_open(&request, &engine, &error);
  if (status != ENGINEHOST_OK) return give_up(status, error);
  printf("EngineHost %s opened %s\n", enginehost_version(), enginehost_engine_build(engine));

  enginehost_model* model = NULL;
  status = print_devices(engine, &error);
  if (status == ENGINEHOST_OK)
    status = enginehost_model_load(engine, argv[1], NULL, NULL, NULL, &model, &error);
  if (status == ENGINEHOST_OK) status = run(model, &error);
  if (status != ENGINEHOST_OK) give_up(status, error);
  enginehost_model_free(model);
  enginehost_engine_free(engine);
  return status;
}
