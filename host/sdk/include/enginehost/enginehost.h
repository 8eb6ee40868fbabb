/* clang-format off */ /* columns are set by hand */
/* enginehost.h - the C API of EngineHost: opens an ML engine build that fits this machine, or explains exactly why
 * none does.
 *
 * Limits.  It never changes the host's locale, current folder, umask, environment or signal handlers, and never
 * prints. It downloads only inside enginehost_open() and after the consent callback agreed.  While an installed build
 * fits, a newer one is downloaded only if `update` asks for it.  No exception and no longjmp leaves it, and none may
 * leave a callback.
 *
 * Threads.  An engine, a model and a result may be used by one thread at a time unless a function says [any];
 * different objects are independent.  Callbacks run on the thread that made the call, progress possibly on another
 * one.  A function marked [any] may read the environment: as for getenv(), no other thread may call setenv()
 * meanwhile. Threads may continue to call while the process ends.  pthread_cancel() of a thread inside a function
 * ends the process; cancel the call instead.
 *
 * Forks.  Handles belong to the process that made them.  In a child of fork(), a function that takes one of its
 * parent's and returns a status fails at once with EH-P53, freeing the handle and the deleter of a tensor do nothing,
 * enginehost_outputs_take() returns NULL and enginehost_engine_report() "{}"; the other texts, numbers and tensors in
 * host memory can still be read.  The child may open engines of its own, if no other thread was inside a function
 * during the fork().
 *
 * Ownership.  Objects given through an `out` pointer belong to the caller and have a matching ..._free.  Free models
 * and outputs before their engine.  Returned strings live as long as the object that returned them.  Arguments are
 * borrowed until the function returns.  Freeing NULL does nothing.
 *
 * Errors.  A function that can fail returns an enginehost_status.  Unless it is ENGINEHOST_OK, no object is given
 * out and *error (if `error` is not NULL) is a full diagnosis: code, cause, evidence, remedy.
 *
 * Devices.  enginehost_engine_choose_device() describes the device argument of all functions.
 *
 * Growth.  A struct that the caller fills in begins with its size.  Fields are added at the end, and zero means "as
 * before"; the size of an older header stays valid.  Initialize it with its ..._INIT macro.  enginehost_input is
 * used in arrays, has no size and never changes.  Functions are added, never changed. */
#ifndef ENGINEHOST_H
#define ENGINEHOST_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(ENGINEHOST_BUILDS_THE_LIBRARY)
#define ENGINEHOST_API __declspec(dllexport)
#elif defined(_WIN32)
#define ENGINEHOST_API __declspec(dllimport)
#else
#define ENGINEHOST_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define ENGINEHOST_NOEXCEPT noexcept
extern "C" {
#else
#define ENGINEHOST_NOEXCEPT
#endif

/* Tensors are DLPack's, and this header needs no dlpack.h.  A tensor is a `const void*` to a DLTensor, because dlpack.h
 * declares that type without a tag, so that it cannot be declared here.  dlpack.h has DLManagedTensorVersioned since
 * 1.0. */
struct DLManagedTensorVersioned;

typedef struct enginehost_engine enginehost_engine;
typedef struct enginehost_model enginehost_model;
typedef struct enginehost_outputs enginehost_outputs;
typedef struct enginehost_error enginehost_error;
typedef struct enginehost_cancel enginehost_cancel;

/* The values are those of the commands' exit statuses. */
typedef int32_t enginehost_status;
enum {
  ENGINEHOST_OK = 0,
  ENGINEHOST_BUG = 1,           /* a bug of EngineHost */
  ENGINEHOST_INVALID = 2,       /* an argument, a file or a setting cannot be used */
  ENGINEHOST_NOTHING_FITS = 3,  /* no build fits this machine or request */
  ENGINEHOST_NOT_FETCHED = 4,   /* missing, refused, timed out, offline */
  ENGINEHOST_WRONG_BYTES = 5,   /* every source gave wrong bytes */
  ENGINEHOST_NOT_LOADED = 6,    /* builds fit but none loaded, or the engine failed */
  ENGINEHOST_CACHE = 7,         /* the cache or the disk */
  ENGINEHOST_FORBIDDEN = 8,     /* consent or a trusted key is missing, or policy forbids it */
  ENGINEHOST_INTERRUPTED = 130  /* canceled */
};

/* "0.1.0"  [any] */
ENGINEHOST_API const char* enginehost_version(void) ENGINEHOST_NOEXCEPT;

/* ---- errors ---- [any], const use */
ENGINEHOST_API const char* enginehost_error_code(const enginehost_error* error) ENGINEHOST_NOEXCEPT;  /* "EH-L01" */
ENGINEHOST_API const char* enginehost_error_title(const enginehost_error* error) ENGINEHOST_NOEXCEPT; /* a few words */
ENGINEHOST_API const char* enginehost_error_cause(const enginehost_error* error) ENGINEHOST_NOEXCEPT; /* a sentence */
ENGINEHOST_API const char* enginehost_error_text(const enginehost_error* error) ENGINEHOST_NOEXCEPT;  /* one screen */
ENGINEHOST_API const char* enginehost_error_json(const enginehost_error* error) ENGINEHOST_NOEXCEPT;  /* all of it */
ENGINEHOST_API void enginehost_error_free(enginehost_error* error) ENGINEHOST_NOEXCEPT;

/* ---- cancelling ---- A token may serve several calls; a waiting call reacts within 100 ms.  [any] */
ENGINEHOST_API enginehost_cancel* enginehost_cancel_new(void) ENGINEHOST_NOEXCEPT; /* NULL: out of memory */
/* Returns a token that is also canceled when `above` is.  Use one for the application, and one below it for each task.
 * The two may be freed in any order; NULL: out of memory. */
ENGINEHOST_API enginehost_cancel* enginehost_cancel_new_below(const enginehost_cancel* above) ENGINEHOST_NOEXCEPT;
/* May be called from a signal handler. */
ENGINEHOST_API void enginehost_cancel_now(enginehost_cancel* cancel) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_cancel_free(enginehost_cancel* cancel) ENGINEHOST_NOEXCEPT;

/* ---- opening ---- */
typedef struct enginehost_progress {
  size_t size;
  const char* phase;  /* "downloading", "unpacking", ... */
  const char* source; /* the URL without credentials, or a path */
  uint64_t done, total; /* bytes; total 0: unknown.  done never decreases */
  double bytes_per_second;
} enginehost_progress;

typedef struct enginehost_question {
  size_t size;
  const char* build;
  uint64_t download_bytes;
  int32_t download_known;  /* 0: the download may be larger than download_bytes */
  size_t license_count;    /* licenses of the download that need explicit acceptance */
  const char* const* license_ids;
  const char* const* license_urls;
  const char* const* license_sha256s; /* of each text, from the manifest; "" if it has none */
} enginehost_question;

typedef struct enginehost_device_event {
  size_t size;
  const char* device; /* "cuda:0" */
  int32_t lost;       /* nonzero: calls on it fail until enginehost_engine_check() reopens it; 0: it is back */
  int32_t reserved;
  const char* code;   /* of the engine's failure, "EH-E01"; "" when it is back */
  const char* reason; /* one line; "" when it is back */
  const enginehost_error* error; /* full diagnosis, valid until the callback returns; NULL when it is back */
} enginehost_device_event;

typedef struct enginehost_log {
  size_t size;
  int32_t level;    /* ENGINEHOST_LOG_... */
  int32_t in_probe; /* nonzero: logged by the child process that probed the build, delivered after it ended */
  const char* topic; /* one word, or "" */
  const char* message;
} enginehost_log;
enum {
  ENGINEHOST_LOG_DEBUG = 10,
  ENGINEHOST_LOG_INFO = 20,
  ENGINEHOST_LOG_WARNING = 30,
  ENGINEHOST_LOG_ERROR = 40
};

typedef struct enginehost_request {
  size_t size;
  const char* engine;   /* "onnxruntime" */
  const char* version;  /* NULL: any; "1.22": a 1.22.x; ">=1.20,<2": docs/settings.md.  An installed build that fits goes
                           before a newer one that would have to be downloaded; see `update` */
  const char* flavor;   /* NULL: the best; a preference unless `require` */
  const char* device;   /* NULL: any; "cuda:0": must be opened; "cuda:0,cpu": the first if possible */
  int32_t require;      /* nonzero: exactly `flavor` or an error, no fallback */
  int32_t offline;      /* nonzero: no socket is opened */
  int32_t no_probe;     /* nonzero: do not try the build in a child process first */
  int32_t allow_unsigned; /* nonzero: URLs of `repositories` may be unsigned; their servers then decide what runs */
  const char* cache;    /* a folder; NULL: the configured one */
  const char* helper;   /* enginehost-probe; NULL: found relative to this library */
  const char* const* repositories; /* folders or URLs, before the configured ones */
  size_t repository_count;
  const char* const* accepted_licenses; /* ids accepted beforehand, each for the text that it was first used with */
  size_t accepted_license_count;
  void* user_data; /* for the callbacks */
  /* on_progress and on_consent must not wait for another thread that opens, because it may wait for this call.  They
   * may open engines themselves, even the same build, on the thread of the call.
   * on_progress may be called from another thread, and must return quickly.  To stop the call, cancel it. */
  void (*on_progress)(const enginehost_progress* progress, void* user_data);
  /* Nonzero agrees.  Not set: agrees to any size, and to licenses only if accepted beforehand.  If it declines licenses,
   * it is not asked about them again in the same call, for another build. */
  int32_t (*on_consent)(const enginehost_question* question, void* user_data);
  const enginehost_cancel* cancel;
  /* A device of the engine was lost or is back.  Called on the thread whose call showed it, possibly one that uses
   * another handle of the same engine.  It must not call into the engine.  Called as long as the handle is open, so
   * `user_data` must stay valid as long.  Freeing the handle waits for a running callback. */
  void (*on_device)(const enginehost_device_event* event, void* user_data);
  uint32_t probe_seconds; /* time limit of the probe in the child process; 0: as configured; at most 3600 */
  uint32_t reserved_end;
  /* Folders of conda or Python environments, or of system libraries, whose engine may be opened in place. */
  const char* const* installations;
  size_t installation_count;
  /* Log messages of the engine, and EngineHost's warnings about the open (topic "enginehost"), while it is opened and
   * as long as the handle is open, so `user_data` must stay valid as long.  Called on any thread of the engine, also on
   * several at once.  It must return quickly and not call into the engine.  Freeing the handle waits for a running
   * callback. */
  void (*on_log)(const enginehost_log* message, void* user_data);
  int32_t log_level; /* lowest level delivered: ENGINEHOST_LOG_...; 0: as configured ("log", ENGINEHOST_LOG) */
  int32_t reserved_log;
  /* A build's id, which is tried first, even if it is quarantined or does not fit this machine; NULL: none.
   * docs/settings.md says what it does not override. */
  const char* force;
  const char* package_index; /* URL or folder of the index of Python packages; NULL: as configured, else pip's */
  /* If an installed build fits and a newer one would have to be downloaded: "report" opens the installed one, and the
   * report names the newer one ("outcome", "update"); "open" opens the newer one; "never" opens the installed one.
   * NULL: as configured ("update", ENGINEHOST_UPDATE), else "report". */
  const char* update;
  const char* lock; /* a lock file (docs/lock-file.md): only the builds that it names are opened; NULL: as configured */
} enginehost_request;
#define ENGINEHOST_REQUEST_INIT                                                                                  \
  {sizeof(enginehost_request), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, \
   NULL, NULL, 0, 0, NULL, 0, NULL, 0, 0, NULL, NULL, NULL, NULL}

/* Chooses, fetches, verifies, probes and loads a build; if one fails, tries the next best in the same call.  Blocks.
 * [any], also several different requests at the same time.  An engine that this process has open by the same request is
 * returned immediately, as another handle of the same engine.  Each handle may be used by another thread; model loading
 * and self-tests of one engine then wait for each other. */
ENGINEHOST_API enginehost_status enginehost_open(const enginehost_request* request, enginehost_engine** out,
                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Only decides.  *json is the document of `engine-info ENGINE --plan --json`; free it with enginehost_text_free.  Fails
 * if nothing fits, but still gives out the document.  [any] */
ENGINEHOST_API enginehost_status enginehost_plan(const enginehost_request* request, char** json,
                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* This machine as {"format":1,"platform":{...}}, without UUIDs and user names.  [any] */
ENGINEHOST_API enginehost_status enginehost_platform(char** json, enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_text_free(char* text) ENGINEHOST_NOEXCEPT;

/* ---- an open engine ---- */
ENGINEHOST_API void enginehost_engine_free(enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* Returns what was opened and why: the document of `engine-info ENGINE --json`. */
ENGINEHOST_API const char* enginehost_engine_report(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API const char* enginehost_engine_build(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API const char* enginehost_engine_flavor(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* Nonzero if a better build failed or is quarantined, the request was not met, or a build for GPUs is open with its
 * processor only, because its GPUs failed; the report says which and why. */
ENGINEHOST_API int32_t enginehost_engine_is_fallback(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_device {
  size_t size;
  const char* name;         /* "cuda:0"; usable as `device` */
  const char* description;  /* "NVIDIA GeForce RTX 4090", or "" */
  const char* architecture; /* compute capability "8.9", or "" */
  int32_t type, index;      /* as in DLPack's DLDevice */
  uint64_t memory_total, memory_free; /* bytes; 0: unknown */
} enginehost_device;
#define ENGINEHOST_DEVICE_INIT {sizeof(enginehost_device), NULL, NULL, NULL, 0, 0, 0, 0}
ENGINEHOST_API size_t enginehost_engine_device_count(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* Fills in `out` (whose size is set) for number < count. */
ENGINEHOST_API enginehost_status enginehost_engine_device(const enginehost_engine* engine, size_t number,
                                                          enginehost_device* out,
                                                          enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Chooses one of the devices and fills in `out`.  Every function that takes a device chooses this way. `wanted` is a
 * name ("cuda:1"), a kind ("cuda": its first; "gpu": the first that is not the CPU; "cpu"), or several of these
 * separated by commas.  The first that exists is chosen: "cuda:1,cpu" is device 1, or else the CPU. NULL or "" is
 * the default: the device of enginehost_engine_set_default_device(), else the request's device, else the configured
 * one (ENGINEHOST_DEVICE, "device" of a configuration file), else the first that is not the CPU, else the first.
 * EH-S09 if none exists, also for an index that is too large.  The diagnosis lists the offered devices, the devices
 * that CUDA_VISIBLE_DEVICES hides, and why a build with such devices was not opened. */
ENGINEHOST_API enginehost_status enginehost_engine_choose_device(const enginehost_engine* engine, const char* wanted,
                                                                 enginehost_device* out,
                                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Sets the default device of this handle.  Not while another thread uses the handle.  NULL or "": as requested or
 * configured again.  EH-S09 as above. */
ENGINEHOST_API enginehost_status enginehost_engine_set_default_device(enginehost_engine* engine, const char* device,
                                                                      enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Checks whether a device works (chosen as above: "gpu" means one that is not the CPU).  ENGINEHOST_OK if a small
 * computation on it gave the right answer just now, else the reason.  Each call checks again, and reopens a lost device
 * as enginehost_engine_check() does. */
ENGINEHOST_API enginehost_status enginehost_engine_functional(enginehost_engine* engine, const char* device,
                                                              const enginehost_cancel* cancel,
                                                              enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* level 0: libraries resolve; 1: the device, chosen as above, allocates; 2: a built-in graph gives its stored
 * answer. */
ENGINEHOST_API enginehost_status enginehost_engine_self_test(enginehost_engine* engine, int32_t level,
                                                             const char* device,
                                                             enginehost_error** error) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_check {
  size_t size;
  const char* device;      /* the chosen device: "cuda:0" */
  const char* computed_on; /* the device of the engine's result: "cuda:0"; "" if only its self-test could be run */
  double milliseconds;     /* for a product of two 128 x 128 matrices with its data there, or for the self-test */
  double cpu_milliseconds; /* for the same product on the engine's cpu; 0: not measured */
  uint64_t memory_total, memory_free; /* bytes, now; 0: unknown */
  int32_t reopened;        /* nonzero: the device was lost, and the engine was created again in this process */
  int32_t reserved;
} enginehost_check;
#define ENGINEHOST_CHECK_INIT {sizeof(enginehost_check), NULL, NULL, 0, 0, 0, 0, 0, 0}
/* Runs a small computation on a device (chosen as above), compares every element of the answer and fills in `out`;
 * its strings are valid until the next check.  This proves that the answer is right, and shows where the engine
 * claims to hold it.  An engine that computes elsewhere and misreports its tensors is not detected; compare the two
 * times.  A lost device is reopened if the plugin can.  Models from before keep failing and must be loaded again. */
ENGINEHOST_API enginehost_status enginehost_engine_check(enginehost_engine* engine, const char* device,
                                                         const enginehost_cancel* cancel, enginehost_check* out,
                                                         enginehost_error** error) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_watch {
  size_t size;
  const char* device;   /* chosen as above; NULL or "": every device of the engine but the CPU */
  uint32_t interval_ms; /* between two self-tests; 0: 30 s; below 100 counts as 100 */
  uint32_t reserved;
  void* user_data;
  void (*on_device)(const enginehost_device_event* event, void* user_data);
} enginehost_watch;
#define ENGINEHOST_WATCH_INIT {sizeof(enginehost_watch), NULL, 0, 0, NULL, NULL}
/* Watches the engine's devices on a thread, also while the application makes no calls.  Runs the engine's self-test at
 * the interval, and immediately when device files or the driver's version change (checked every second).  Reports each
 * loss (EH-R18) once and each return once.  Reopens a lost device as enginehost_engine_check() does.
 * The callback runs on that thread, one call at a time.  It may use the engine if no other thread does, end the watch
 * and free the engine, but must not unload this library.
 * A handle has one watch: another call replaces it, and NULL or freeing the engine ends it.  Both cancel a running
 * self-test and wait for a running callback, so do not hold a lock that the callback takes. */
ENGINEHOST_API enginehost_status enginehost_engine_watch(enginehost_engine* engine, const enginehost_watch* watch,
                                                         enginehost_error** error) ENGINEHOST_NOEXCEPT;

/* ---- models ---- */
/* format NULL: from the file's extension; the device is chosen as above. */
ENGINEHOST_API enginehost_status enginehost_model_load(enginehost_engine* engine, const char* path, const char* format,
                                                       const char* device, const enginehost_cancel* cancel,
                                                       enginehost_model** out,
                                                       enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_model_free(enginehost_model* model) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_port {
  size_t size;
  const char* name;
  const char* type;     /* "float32[batch, 512]" */
  int32_t ndim;         /* -1: any */
  int32_t optional;
  const int64_t* shape; /* -1: decided at run time; NULL if ndim <= 0 */
  uint8_t dtype_code, dtype_bits; /* as in DLPack's DLDataType, one lane; bits 0: any; strings: see below */
} enginehost_port;
#define ENGINEHOST_PORT_INIT {sizeof(enginehost_port), NULL, NULL, 0, 0, NULL, 0, 0}
ENGINEHOST_API size_t enginehost_model_input_count(const enginehost_model* model) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API size_t enginehost_model_output_count(const enginehost_model* model) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API enginehost_status enginehost_model_input(const enginehost_model* model, size_t number,
                                                        enginehost_port* out,
                                                        enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API enginehost_status enginehost_model_output(const enginehost_model* model, size_t number,
                                                         enginehost_port* out,
                                                         enginehost_error** error) ENGINEHOST_NOEXCEPT;

/* DLPack has no string type.  Here strings have code 200 and 128 bits, also in a DLManagedTensorVersioned that is
 * given out; other programs do not know them.  Each element is an enginehost_string in host memory, and its data
 * lives as long as the tensor. */
#define ENGINEHOST_DTYPE_STRING 200
typedef struct enginehost_string {
  const char* data; /* any bytes; no NUL at the end */
  uint64_t length;
} enginehost_string;

typedef struct enginehost_input {
  const char* name; /* may be NULL if the model has one input; each name once, unless the input is a list */
  /* A DLTensor in host memory or on the model's device; only read.  It must be row-major and compact (strides are
   * NULL or equal to that), with one lane; else EH-P44.  If its address is not a multiple of the element's size, a
   * tensor in host memory is copied first, and a tensor on a device is EH-P44. */
  const void* tensor;
} enginehost_input;
/* Runs the model once.  Several threads may run one model; they wait for each other unless the engine allows concurrent
 * runs.  [any] */
ENGINEHOST_API enginehost_status enginehost_model_run(enginehost_model* model, const enginehost_input* inputs,
                                                      size_t input_count, const enginehost_cancel* cancel,
                                                      enginehost_outputs** out,
                                                      enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_outputs_free(enginehost_outputs* outputs) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API size_t enginehost_outputs_count(const enginehost_outputs* outputs) ENGINEHOST_NOEXCEPT;
/* The output's name; for a dictionary "name.key". */
ENGINEHOST_API const char* enginehost_outputs_name(const enginehost_outputs* outputs,
                                                   size_t number) ENGINEHOST_NOEXCEPT;
/* Returns a DLTensor for reading, in host memory, row-major and compact, valid until the outputs are freed or the
 * tensor is taken.  NULL if the number is too large or the tensor was taken. */
ENGINEHOST_API const void* enginehost_outputs_tensor(const enginehost_outputs* outputs,
                                                     size_t number) ENGINEHOST_NOEXCEPT;
/* Returns the tensor with its memory, which then belongs to the caller: call its deleter before the engine is freed.
 * NULL if the number is too large or the tensor was taken. */
ENGINEHOST_API struct DLManagedTensorVersioned* enginehost_outputs_take(enginehost_outputs* outputs,
                                                                        size_t number) ENGINEHOST_NOEXCEPT;

/* Copies `tensor` to a device, chosen as above, or to host memory, which "cpu" means even if the engine does not
 * compute there.  `tensor` is a DLTensor of numbers like an input (else EH-P44), in host memory or on a device of
 * the engine (else EH-P49).  The copy is in memory of the engine; call its deleter before the engine is freed.  *out
 * is NULL, with ENGINEHOST_OK, if the tensor is there already (host memory is one place): use the original. */
ENGINEHOST_API enginehost_status enginehost_tensor_copy(enginehost_engine* engine, const void* tensor,
                                                        const char* device, const enginehost_cancel* cancel,
                                                        struct DLManagedTensorVersioned** out,
                                                        enginehost_error** error) ENGINEHOST_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
