/* clang-format off */ /* columns are set by hand, C style */
/* engine_plugin.h - the engine plugin ABI, major 1.  Start reading at engine_plugin_v1.
 *
 * Every function carries its contract:
 *   [any]   from any thread, concurrently with anything.
 *   [obj]   calls on one object (the first argument, or the one named) never overlap, but may come from different
 *           threads one after the other; calls on different objects are independent.
 *   [fast]  returns within 1 ms: no I/O, no device, no waiting for another thread.
 *
 * Ground rules.  Strings are NUL-terminated UTF-8, paths too.  A pointer is NULL only where it says so, an array where
 * its count is 0.  Enums and flags are plain integers: ignore unknown bits, treat an unknown code as "other"; fields
 * called `reserved` are written 0 and not read.  Nothing throws or longjmps across.  The side that creates an object
 * destroys it; neither side frees the other's memory.  Arguments, `call` too, are borrowed until the function returns;
 * copy what must be kept.  On failure `*out` is NULL and there is nothing to clean up.  A function leaves its thread
 * unchanged: current CUDA device, floating-point mode, signal mask, locale.  Host callbacks never call into the
 * plugin, so it may hold its locks around them; none is called once destroy() has returned.
 *
 * Growth rules.  A table found by query() never changes once published: a change gets a new id ("/2").  A struct with
 * a `size` field (set by its allocator) may gain fields at its end, where all-zero means "as before", under
 * #if ENGINE_ABI_MINOR >= n; read and write those under ENGINE_HAS().  A `size` larger than one's own is a newer
 * version and no error.  Any other struct is frozen, because it may live in arrays; later additions to its elements
 * become a second array in the struct that holds the first.  No struct has padding, so no new field can land in an
 * old struct's tail. */
#ifndef ENGINE_PLUGIN_H
#define ENGINE_PLUGIN_H
#include <stddef.h>
#include <stdint.h>

#define ENGINE_ABI_MAJOR 1 /* also in the symbol name, so one file can serve two majors */
#define ENGINE_ABI_NEWEST_MINOR 0 /* what this header can describe; a host defines ENGINE_ABI_MINOR to it */
#ifndef ENGINE_ABI_MINOR          /* a plugin opts in to newer minors; by default it runs on the oldest host */
#define ENGINE_ABI_MINOR 0
#endif
#if ENGINE_ABI_MINOR > ENGINE_ABI_NEWEST_MINOR
#error "ENGINE_ABI_MINOR asks for more than this engine_plugin.h describes"
#endif
#define ENGINE_HAS(p, type, field) ((p)->size >= offsetof(type, field) + sizeof((p)->field))

#if UINTPTR_MAX != 0xffffffffffffffffu
#error "this ABI is for 64-bit machines: one calling convention on each, and no padding below"
#endif
#ifdef _WIN32
#define ENGINE_EXPORT __declspec(dllexport)
#else
#define ENGINE_EXPORT __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
#define ENGINE_NOEXCEPT noexcept /* since C++17 a function that may throw does not even fit into a table */
extern "C" {
#else
#define ENGINE_NOEXCEPT
#endif

typedef struct engine_instance engine_instance; /* plugin-private */
typedef struct engine_model engine_model;       /* plugin-private */

/* Answers one question: what should the caller do next?  The rest goes through fail()/detail(); every status but
 * ENGINE_OK comes with at least one fail(). */
typedef int32_t engine_status;
enum {
  ENGINE_OK = 0,          /* earlier reports were recovered from: the host warns after create(), else ignores them */
  ENGINE_INVALID = 1,     /* the request is wrong or refused; repeating it cannot help */
  ENGINE_UNSUPPORTED = 2, /* fine request, wrong engine build: try the next candidate */
  ENGINE_UNAVAILABLE = 3, /* this machine lacks a driver, library or device: try the next candidate */
  ENGINE_NO_MEMORY = 4,   /* host or device; the object is as before, a smaller request may work */
  ENGINE_CANCELLED = 5,   /* because is_cancelled() said so; the object is as before */
  ENGINE_CORRUPT = 6,     /* model or engine files are damaged: fetch them again */
  ENGINE_INTERNAL = 7,    /* plugin bug; the object involved may now only be destroyed */
  ENGINE_LOST = 8         /* device, context or worker is gone: destroy the engine, make another (CUDA: new process) */
};

/* One operation as the host sees it, and the only way to report an error.  It belongs to the host, so that the report
 * outlives the plugin that made it: the host copies every string it is given. */
typedef struct engine_call engine_call;
struct engine_call {
  uint32_t size, timeout_ms; /* left when the call began, 0: no limit; for layers below that want a number */
  void *host_data;
  /* Nonzero once the caller canceled or the time is over; poll every 100 ms.  Work that cannot poll needs a thread of
   * the plugin that polls and stops it.  [any] [fast] */
  int32_t (*is_cancelled)(const engine_call *call) ENGINE_NOEXCEPT;
  /* total 0 = unknown; stage is one word: "compile".  [any] [fast] */
  void (*progress)(engine_call *call, uint64_t done, uint64_t total, const char *stage) ENGINE_NOEXCEPT;
  /* Records the reason and returns `status`: `return call->fail(...)`.  The first report is the cause, later ones are
   * context.  origin+native name the layer below ("cuda", 35), or "" and 0.  [any] */
  engine_status (*fail)(engine_call *call, engine_status status, const char *origin, int64_t native,
                        const char *message) ENGINE_NOEXCEPT;
  /* A fact a program can act on: "missing_library" = "libcudnn.so.8".  Keys that mean the same everywhere:
   * missing_library, missing_symbol, path, option, input, operation, device, required, found.  [any] */
  void (*detail)(engine_call *call, const char *key, const char *value) ENGINE_NOEXCEPT;
};

/* An option, fact or attribute.  Option keys without a dot mean the same in every engine, and one it does not know is
 * ignored: "threads", "memory_limit", "deterministic", "cache" (a folder to write to).  Keys with a dot are its own
 * (the manifest's "options"); one it does not know is ENGINE_INVALID.  Given twice, the last counts. */
typedef struct engine_entry { const char *key, *value; } engine_entry;

/* Tensors: DLPack 1.0 byte for byte (memcpy to and from its structs), but declared here: the dlpack.h of engines and
 * distributions differ behind one include guard, and since 1.2 DLPack requires strides.  They are row-major and compact
 * (strides is NULL), take (elements * bits * lanes + 7) / 8 bytes, and begin at a multiple of the element's size; the
 * allocator of host memory aligns it to 64.  ndim 0 is a scalar; without elements data may be NULL.  Nothing is pending
 * on a tensor that is passed on.  CUDA memory is the primary context's.  Sizes are >= 0; a product may overflow. */
enum { /* DLPack's device types; one not named here keeps DLPack's number */
       ENGINE_CPU = 1, ENGINE_CUDA = 2, ENGINE_CUDA_HOST = 3, ENGINE_VULKAN = 7, ENGINE_METAL = 8,
       ENGINE_ROCM = 10, ENGINE_ROCM_HOST = 11, ENGINE_CUDA_MANAGED = 13, ENGINE_ONEAPI = 14,
       ENGINE_OTHER_DEVICE = 12 /* data means something to its engine only */ };
typedef struct engine_device { int32_t type, index; } engine_device;
enum { /* DLPack's type codes; a bool takes 8 bits */
       ENGINE_INT = 0, ENGINE_UINT = 1, ENGINE_FLOAT = 2, ENGINE_BFLOAT = 4, ENGINE_COMPLEX = 5, ENGINE_BOOL = 6,
       ENGINE_STRING = 200 /* not DLPack's: elements are engine_string, bits 128, host memory only */ };
typedef struct engine_dtype { uint8_t code, bits; uint16_t lanes; } engine_dtype; /* lanes is 1 */
typedef struct engine_string { const char *data; uint64_t length; } engine_string; /* any bytes; no NUL at the end */
typedef struct engine_tensor {
  void *data;
  engine_device device;
  int32_t ndim;
  engine_dtype dtype;
  const int64_t *shape, *strides;
  uint64_t byte_offset;
} engine_tensor;
typedef struct engine_owned_tensor engine_owned_tensor;
struct engine_owned_tensor {
  uint32_t major, minor; /* ENGINE_DLPACK_MAJOR, ENGINE_DLPACK_MINOR */
  void *owner;
  /* Called once by the holder, before destroy() of the engine; its model may be unloaded first.  [any] */
  void (*release)(engine_owned_tensor *self) ENGINE_NOEXCEPT;
  uint64_t flags; /* ENGINE_TENSOR_*, DLPack's */
  engine_tensor tensor;
};
#define ENGINE_DLPACK_MAJOR 1u
#define ENGINE_DLPACK_MINOR 0u
#define ENGINE_TENSOR_READ_ONLY 1u

/* Takes the outputs of a run, from one thread at a time, before the run returns.  Each value goes one of the two ways,
 * under its output's number; a repeated output has several, in order.  `name` is a name that only the run knows, a
 * dictionary's key or "0.boxes", else NULL. */
typedef struct engine_results engine_results;
struct engine_results {
  uint32_t size, reserved;
  void *host_data;
  /* For a known type, shape and device (`like`; its data is not read): returns host-owned memory to fill, separate from
   * every input, or NULL: use give().  Usually it is host memory; another device's only if the host holds some.
   * `like` is read at once; the returned tensor stays valid until the run returns.  No strings.  [fast] */
  const engine_tensor *(*place)(engine_results *results, uint32_t output, const char *name, const engine_tensor *like)
      ENGINE_NOEXCEPT;
  /* Hands over a tensor; it is the host's from here on, even if the run fails later.  [fast] */
  void (*give)(engine_results *results, uint32_t output, const char *name, engine_owned_tensor *tensor) ENGINE_NOEXCEPT;
};

typedef struct engine_host engine_host;
struct engine_host { /* valid from create() until destroy() returns */
  uint32_t size;
  uint16_t abi_major, abi_minor;
  const char *name, *version; /* for logs; never branch on them */
  const char *root;           /* the installed build, absolute: the engine's own libraries lie below */
  void *host_data;
  int32_t log_level, reserved; /* messages below log_level need not be formatted */
  /* `level` is one of ENGINE_LOG_*, `topic` one word.  A plugin never writes to stdout or stderr.  [any] */
  void (*log)(const engine_host *host, int32_t level, const char *topic, const char *message) ENGINE_NOEXCEPT;
  /* Optional host interfaces, NULL if absent; results live as long as the host.  [any] [fast] */
  const void *(*query)(const engine_host *host, const char *id) ENGINE_NOEXCEPT;
};
enum { ENGINE_LOG_DEBUG = 10, ENGINE_LOG_INFO = 20, ENGINE_LOG_WARNING = 30, ENGINE_LOG_ERROR = 40 };

/* The one exported symbol.  Data, not a function: the host checks it before any plugin code is called, and the fields
 * above `engine` hold no pointers, so they can be read from the file itself.  In C++ declare it constexpr, because one
 * dynamic initializer leaves only zeros in the file. */
typedef struct engine_plugin {
  uint8_t magic[8];                /* ENGINE_PLUGIN_MAGIC and its NUL */
  uint32_t size;                   /* sizeof(engine_plugin) */
  uint16_t abi_major, abi_minor;   /* ENGINE_ABI_MAJOR, ENGINE_ABI_MINOR: the newest it may use */
  uint16_t host_minor, reserved;   /* the oldest host it runs on; usually 0 */
  uint32_t flags;                  /* ENGINE_PLUGIN_* */
  const char *engine;              /* the manifest's "engine": "onnxruntime" */
  const char *version, *build;     /* of this plugin; free text: commit, compiler, toolkit */
  const char *const *capabilities; /* sorted, NULL at the end: "device.cuda", "format.onnx"; the releases of the
                                    * runtime that it serves, if it serves not all: "versions.>=1.17,<2" */
  /* There is no global init: two hosts in one process make two engines.  Having no device is no error.  [any] */
  engine_status (*create)(const engine_host *host, const engine_entry *options, size_t option_count,
                          engine_instance **out, engine_call *call) ENGINE_NOEXCEPT;
  /* Its models and tensors are released already.  Threads that stay asleep forbid UNLOADABLE.  [obj] */
  void (*destroy)(engine_instance *engine) ENGINE_NOEXCEPT;
  /* The runtime that was really loaded: "version" = "1.22.0" always, "cuda" = "12.8"; until destroy().  [any] [fast] */
  const engine_entry *(*facts)(engine_instance *engine, size_t *count) ENGINE_NOEXCEPT;
  /* Static function tables by id; NULL = not offered, which is returned for every unknown id, for "" and for NULL.
   * Always the same result.  Ids this header does not define begin with a domain: "org.example.thing/1".
   * [any] [fast] */
  const void *(*query)(engine_instance *engine, const char *id) ENGINE_NOEXCEPT;
} engine_plugin;
#define ENGINE_PLUGIN_MAGIC "ENGPLUG"
#define ENGINE_PLUGIN_SYMBOL "engine_plugin_v1"
#define ENGINE_PLUGIN_UNLOADABLE 1u /* dlclose after the last destroy() is tested; else: pinned */
extern ENGINE_EXPORT const engine_plugin engine_plugin_v1;

/* ---- "engine.device/1", required ---- */
#define ENGINE_DEVICE_V1 "engine.device/1"
typedef struct engine_device_info {
  uint32_t size, flags;                     /* `size` is set by the caller and not changed */
  engine_device device;                     /* how tensors name it */
  const char *kind;                         /* its name for people: "cuda"; the strings live until destroy() */
  const char *name, *architecture, *driver; /* "" is unknown; architecture: "9.0", "gfx1100" */
  uint8_t uuid[16];                         /* the same in every process; zeros if there is none */
  uint64_t memory_total, memory_free;       /* 0: unknown */
} engine_device_info;
typedef struct engine_device_v1 {
  uint32_t (*count)(engine_instance *engine) ENGINE_NOEXCEPT; /* fixed by create()  [any] [fast] */
  /* Fills what `out->size` has room for; a number not below count() is ENGINE_INVALID.  [any] */
  engine_status (*info)(engine_instance *engine, uint32_t number, engine_device_info *out,
                        engine_call *call) ENGINE_NOEXCEPT;
} engine_device_v1;

/* ---- "engine.selftest/1", required ---- */
#define ENGINE_SELFTEST_V1 "engine.selftest/1"
enum { ENGINE_SELFTEST_LIBRARIES = 0, /* libraries and symbols resolve */
       ENGINE_SELFTEST_DEVICE = 1,    /* the device opens and allocates */
       ENGINE_SELFTEST_GRAPH = 2      /* a built-in graph gives its stored result */ };
typedef struct engine_selftest_v1 {
  /* `level` is one of ENGINE_SELFTEST_*; a higher one includes the lower.  At most 10 s; polls `call`.  The host runs
   * it in a child process before it first trusts a build on a driver.  [obj: the engine] */
  engine_status (*run)(engine_instance *engine, int32_t level, engine_device device, engine_call *call) ENGINE_NOEXCEPT;
} engine_selftest_v1;

/* ---- "engine.tensor/1": where data lives ---- */
#define ENGINE_TENSOR_V1 "engine.tensor/1"
typedef struct engine_tensor_v1 {
  /* Memory of `like`'s type, shape and device (its data is not read), contents undefined.  No strings.  [any] */
  engine_status (*create)(engine_instance *engine, const engine_tensor *like, engine_owned_tensor **out,
                          engine_call *call) ENGINE_NOEXCEPT;
  /* From and to the host or any device of this engine; types and shapes are equal.  [any] */
  engine_status (*copy)(engine_instance *engine, const engine_tensor *from, const engine_tensor *to,
                        engine_call *call) ENGINE_NOEXCEPT;
} engine_tensor_v1;

/* ---- "engine.op/1": single operations by name, for self-tests, timing and small computations ---- */
#define ENGINE_OP_V1 "engine.op/1"
typedef struct engine_op_v1 {
  /* Names, inputs, outputs and attributes ("2,2") are those of ONNX opset 13; always "Add", "Mul", "MatMul", "Relu"
   * of float32 with equal shapes or matrices; an unknown name or a type it has no code for is ENGINE_UNSUPPORTED,
   * shapes that do not fit are ENGINE_INVALID.  Inputs live on one device, else ENGINE_INVALID and a message that
   * names both; outputs appear there.  [obj: the engine] */
  engine_status (*run)(engine_instance *engine, const char *name, const engine_tensor *const *inputs,
                       size_t input_count, const engine_entry *attributes, size_t attribute_count,
                       engine_results *results, engine_call *call) ENGINE_NOEXCEPT;
} engine_op_v1;

/* ---- "engine.model/1" ---- */
#define ENGINE_MODEL_V1 "engine.model/1"
typedef struct engine_model_desc {
  uint32_t size, flags;
  const char *format; /* "onnx": the tail of a "format." capability */
  const char *path;   /* a file or folder, with the files it names beside it; or NULL, and then: */
  const void *data; uint64_t data_size; /* gone after load() */
  engine_device device; /* this one or an error, never another one */
  const engine_entry *options; size_t option_count;
} engine_model_desc;
typedef struct engine_port {
  const char *name;
  const int64_t *shape;          /* -1: decided at run time */
  const char *const *dimensions; /* their names, "batch", or ""; NULL if no name is known */
  int32_t ndim;                  /* -1: any, and shape is NULL */
  engine_dtype dtype;            /* bits 0: any */
  uint32_t flags, reserved;      /* ENGINE_PORT_* */
} engine_port;
#define ENGINE_PORT_OPTIONAL 1u /* may be left out */
#define ENGINE_PORT_REPEATED 2u /* a list or dictionary: any number of values */
typedef struct engine_function {
  const char *name; /* a signature, a method; the first is the default */
  const engine_port *inputs, *outputs;
  size_t input_count, output_count;
} engine_function;
typedef struct engine_model_info { /* the model's, until unload() */
  uint32_t size, flags; /* ENGINE_MODEL_* */
  const engine_function *functions; size_t function_count;
  const engine_entry *metadata; size_t metadata_count; /* from the file: labels, producer */
} engine_model_info;
#define ENGINE_MODEL_CONCURRENT 1u /* run() is [any] */
typedef struct engine_value {
  uint32_t input, reserved;    /* its number */
  const char *name;            /* a dictionary's key, else NULL */
  const engine_tensor *tensor; /* never written; in host memory or on the model's device */
} engine_value;
typedef struct engine_run {
  uint32_t size, function; /* its number */
  const engine_value *inputs; size_t input_count; /* in the order of the function's inputs */
  engine_device output_device; /* a preference, type 0: none; else results are in host memory */
  const engine_entry *options; size_t option_count;
} engine_run;
typedef struct engine_model_v1 {
  engine_status (*load)(engine_instance *engine, const engine_model_desc *desc, engine_model **out,
                        engine_call *call) ENGINE_NOEXCEPT;              /* [obj: the engine] */
  void (*unload)(engine_model *model) ENGINE_NOEXCEPT;                   /* [obj] */
  const engine_model_info *(*info)(engine_model *model) ENGINE_NOEXCEPT; /* [any] [fast] */
  /* A required input that is missing, and one that does not fit its port, is ENGINE_INVALID: not every host checks
   * first.  All device work is finished on return.  [obj] */
  engine_status (*run)(engine_model *model, const engine_run *what, engine_results *results,
                       engine_call *call) ENGINE_NOEXCEPT;
} engine_model_v1;

#ifdef __cplusplus
}
#endif
#endif
