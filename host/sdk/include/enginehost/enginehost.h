/* clang-format off */ /* columns are set by hand */
/* enginehost.h - the C API of EngineHost: open an ML engine build that fits this machine, or learn exactly why not.
 *
 * What it does not do: it never changes the host's locale, current folder, umask, environment or signal handlers; it
 * never prints; it downloads only inside enginehost_open() and after the consent callback agreed; nothing throws or
 * longjmps across it, and no callback may.
 *
 * Threads.  An engine, a model and a result may be used by one thread at a time unless a function says [any];
 * different objects are independent.  Callbacks run on the thread that made the call, progress possibly on another.
 * What says [any] may read the environment: as for getenv(), no other thread may call setenv() meanwhile.  Threads may
 * go on calling while the process ends.  A thread that is inside a function must not be ended by pthread_cancel(): that
 * ends the process; cancel the call instead.  A child of fork() must not use handles of its parent, nor free them: their
 * locks, threads and devices stayed there.  It may open engines of its own, if no other thread was inside a function
 * when it was made.
 *
 * Ownership.  What a function gives through an `out` pointer is the caller's and has a matching ..._free.  Free models
 * and outputs before their engine.  Strings that are returned live as long as the object they were asked of.  Arguments
 * are borrowed until the function returns.  Freeing NULL does nothing.
 *
 * Errors.  A function that can fail returns an enginehost_status; unless it is ENGINEHOST_OK, nothing was given out and
 * *error (where `error` is not NULL) is a full diagnosis: code, cause, evidence, remedy.
 *
 * Devices.  Wherever a function takes a device, enginehost_engine_choose_device() says what it may be.
 *
 * Growth.  A struct that you set up begins with its size; fields are added at the end, zero means "as before", and the
 * size of an older header goes on being taken.  Set it up with its ..._INIT macro.  enginehost_input lives in arrays,
 * has no size and stays as it is.  Functions are added, never changed. */
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

/* Tensors are DLPack's, and this header needs no dlpack.h: a tensor that is passed or given is a `const void*` to a
 * DLTensor, because dlpack.h declares that type without a tag, which cannot be announced here. DLManagedTensorVersioned
 * is in dlpack.h since 1.0. */
struct DLManagedTensorVersioned;

typedef struct enginehost_engine enginehost_engine;
typedef struct enginehost_model enginehost_model;
typedef struct enginehost_outputs enginehost_outputs;
typedef struct enginehost_error enginehost_error;
typedef struct enginehost_cancel enginehost_cancel;

/* The numbers are those of the commands' exit statuses. */
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
  ENGINEHOST_FORBIDDEN = 8,     /* consent missing or forbidden by policy */
  ENGINEHOST_INTERRUPTED = 130  /* cancelled */
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

/* ---- cancelling ---- A token may serve several calls; whoever waits sees it within 100 ms.  [any] */
ENGINEHOST_API enginehost_cancel* enginehost_cancel_new(void) ENGINEHOST_NOEXCEPT; /* NULL: out of memory */
/* Another, which is cancelled also when `above` is: one for the application, and one below it for each piece of work.
 * The two may be freed in any order; NULL: out of memory. */
ENGINEHOST_API enginehost_cancel* enginehost_cancel_new_below(const enginehost_cancel* above) ENGINEHOST_NOEXCEPT;
/* A signal's handler may call it. */
ENGINEHOST_API void enginehost_cancel_now(enginehost_cancel* cancel) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_cancel_free(enginehost_cancel* cancel) ENGINEHOST_NOEXCEPT;

/* ---- opening ---- */
typedef struct enginehost_progress {
  size_t size;
  const char* phase;  /* "downloading", "unpacking", ... */
  const char* source; /* the URL without credentials, or a path */
  uint64_t done, total; /* bytes; total 0: not known.  done never goes backwards */
  double bytes_per_second;
} enginehost_progress;

typedef struct enginehost_question {
  size_t size;
  const char* build;
  uint64_t download_bytes;
  int32_t download_known;  /* 0: more than download_bytes may come */
  size_t license_count;    /* licences that cover it and want explicit acceptance */
  const char* const* license_ids;
  const char* const* license_urls;
  const char* const* license_sha256s; /* of each text, as the manifest names it; "" where it names none */
} enginehost_question;

typedef struct enginehost_device_event {
  size_t size;
  const char* device; /* "cuda:0" */
  int32_t lost;       /* nonzero: calls on it fail until enginehost_engine_check() opens it again; 0: it is back */
  int32_t reserved;
  const char* code;   /* of what the engine reported, "EH-E01"; "" when it is back */
  const char* reason; /* one line; "" when it is back */
  const enginehost_error* error; /* all that is known of the loss, until the callback returns; NULL when it is back */
} enginehost_device_event;

typedef struct enginehost_log {
  size_t size;
  int32_t level;    /* ENGINEHOST_LOG_... */
  int32_t in_probe; /* nonzero: said in the child process that tried the build, and told when that had ended */
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
  const char* version;  /* NULL: any; "1.22": the newest 1.22.x; ">=1.20,<2": docs/settings.md */
  const char* flavor;   /* NULL: the best; a wish unless `require` */
  const char* device;   /* NULL: any; "cuda:0": must be opened; "cuda:0,cpu": the first if possible */
  int32_t require;      /* nonzero: exactly `flavor` or an error, no fallback */
  int32_t offline;      /* nonzero: no socket is opened */
  int32_t no_probe;     /* nonzero: do not try the build in a child process first */
  int32_t reserved;
  const char* cache;    /* a folder; NULL: the configured one */
  const char* helper;   /* enginehost-probe; NULL: found relative to this library */
  const char* const* repositories; /* folders or URLs, before the configured ones */
  size_t repository_count;
  const char* const* accepted_licenses; /* ids accepted beforehand */
  size_t accepted_license_count;
  void* user_data; /* of the callbacks */
  /* on_progress and on_consent must not wait for another thread that opens: that one may wait for this call.  They may
   * open themselves, also the same build, on the thread of the call.
   * on_progress may be called from another thread, and must return quickly.  To stop the call, cancel it. */
  void (*on_progress)(const enginehost_progress* progress, void* user_data);
  /* Nonzero agrees.  Not set: size is agreed to, licences only if accepted beforehand. */
  int32_t (*on_consent)(const enginehost_question* question, void* user_data);
  const enginehost_cancel* cancel;
  /* A device of the engine was lost or is back.  Called as long as the handle is open, so `user_data` must last as
   * long, on the thread whose call showed it, which may be one that works with another handle of the same engine; it
   * must not call into the engine.  Freeing the handle waits until it runs no more. */
  void (*on_device)(const enginehost_device_event* event, void* user_data);
  uint32_t probe_seconds; /* a build may take to come up in the child process; 0: as configured; 3600 at most */
  uint32_t reserved_end;
  /* Folders of conda or Python environments, or of a system's libraries, whose engine may be opened where it lies. */
  const char* const* installations;
  size_t installation_count;
  /* What the engine logs, while it is opened and as long as the handle is open, so `user_data` must last as long.
   * Called on whatever thread the engine logs on, also on several at once; it must return quickly and not call into the
   * engine.  Freeing the handle waits until it runs no more. */
  void (*on_log)(const enginehost_log* message, void* user_data);
  int32_t log_level; /* what is below it is not told: ENGINEHOST_LOG_...; 0: as configured ("log", ENGINEHOST_LOG) */
  int32_t reserved_log;
} enginehost_request;
#define ENGINEHOST_REQUEST_INIT                                                                                  \
  {sizeof(enginehost_request), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, \
   NULL, NULL, 0, 0, NULL, 0, NULL, 0, 0}

/* Chooses, fetches, verifies, proves and loads a build; when one fails, the next best in the same call.  Blocks; [any],
 * also at the same time for different requests.  What this process has open already by the same request is given again
 * at once, as another handle of the same engine; each handle may be used by another thread, loading models and
 * self-tests of one engine then wait for each other. */
ENGINEHOST_API enginehost_status enginehost_open(const enginehost_request* request, enginehost_engine** out,
                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Decides only; *json is the document of `engine-info ENGINE --plan --json`, to be freed with enginehost_text_free.
 * Fails when nothing fits (the document is given out all the same).  [any] */
ENGINEHOST_API enginehost_status enginehost_plan(const enginehost_request* request, char** json,
                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* This machine as {"format":1,"platform":{...}}, UUIDs and user names left out.  [any] */
ENGINEHOST_API enginehost_status enginehost_platform(char** json, enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_text_free(char* text) ENGINEHOST_NOEXCEPT;

/* ---- an open engine ---- */
ENGINEHOST_API void enginehost_engine_free(enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* What was opened and why: the document of `engine-info ENGINE --json`. */
ENGINEHOST_API const char* enginehost_engine_report(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API const char* enginehost_engine_build(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API const char* enginehost_engine_flavor(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* Nonzero when something better failed or is set aside, or the wish was not met; the report says what and why. */
ENGINEHOST_API int32_t enginehost_engine_is_fallback(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_device {
  size_t size;
  const char* name;         /* "cuda:0", to be used as `device` */
  const char* description;  /* "NVIDIA GeForce RTX 4090", or "" */
  const char* architecture; /* compute capability "8.9", or "" */
  int32_t type, index;      /* as DLPack's DLDevice names it */
  uint64_t memory_total, memory_free; /* bytes; 0: unknown */
} enginehost_device;
#define ENGINEHOST_DEVICE_INIT {sizeof(enginehost_device), NULL, NULL, NULL, 0, 0, 0, 0}
ENGINEHOST_API size_t enginehost_engine_device_count(const enginehost_engine* engine) ENGINEHOST_NOEXCEPT;
/* Fills `out` (whose size is set) for number < count. */
ENGINEHOST_API enginehost_status enginehost_engine_device(const enginehost_engine* engine, size_t number,
                                                          enginehost_device* out,
                                                          enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Chooses one of them and fills `out`, as every function that takes a device does.  `wanted` is a name ("cuda:1"), a
 * kind ("cuda": its first; "gpu": the first that is not the processor; "cpu"), or several separated by commas, of which
 * the first that is there counts: "cuda:1,cpu" is "device 1 or the processor".  NULL or "": the default, which is what
 * enginehost_engine_set_default_device() said, else the request's device, else the configured one (ENGINEHOST_DEVICE,
 * "device" of a configuration file), else the first that is not the processor, else the first.  EH-S09 when none is
 * there, also for an index behind the last: it names what is offered, what CUDA_VISIBLE_DEVICES hides, and why a build
 * with such devices was not opened. */
ENGINEHOST_API enginehost_status enginehost_engine_choose_device(const enginehost_engine* engine, const char* wanted,
                                                                 enginehost_device* out,
                                                                 enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* For this handle, and not while another thread uses it; NULL or "": as requested or configured again.  EH-S09 as
 * above. */
ENGINEHOST_API enginehost_status enginehost_engine_set_default_device(enginehost_engine* engine, const char* device,
                                                                      enginehost_error** error) ENGINEHOST_NOEXCEPT;
/* Whether a device (chosen as above: "gpu" asks for one that is not the processor) works: ENGINEHOST_OK when a small
 * computation there gave the right answer just now, else the reason.  It asks anew at each call, and opens a lost
 * device again as enginehost_engine_check() does. */
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
  const char* device;      /* that was chosen: "cuda:0" */
  const char* computed_on; /* where the engine's result lies: "cuda:0"; "" when only its self-test could be run */
  double milliseconds;     /* of a product of two 128 x 128 matrices with its data there, or of the self-test */
  double cpu_milliseconds; /* of the same product on the engine's cpu; 0: not measured */
  uint64_t memory_total, memory_free; /* bytes, asked anew; 0: unknown */
  int32_t reopened;        /* nonzero: the device was lost, and the engine was made anew in this process */
  int32_t reserved;
} enginehost_check;
#define ENGINEHOST_CHECK_INIT {sizeof(enginehost_check), NULL, NULL, 0, 0, 0, 0, 0, 0}
/* Runs a small computation on a device (chosen as above), compares every element of its answer and fills `out`; the
 * strings last until the next check.  It proves that the answer is right and says where the engine claims to hold it;
 * an engine that computes elsewhere and lies about its tensors is not found out, which is why both times are told.
 * A device that was lost is opened again where the plugin can; models of before then go on failing and are to be
 * loaded again. */
ENGINEHOST_API enginehost_status enginehost_engine_check(enginehost_engine* engine, const char* device,
                                                         const enginehost_cancel* cancel, enginehost_check* out,
                                                         enginehost_error** error) ENGINEHOST_NOEXCEPT;

typedef struct enginehost_watch {
  size_t size;
  const char* device;   /* chosen as above; NULL or "": every device of the engine but the processor */
  uint32_t interval_ms; /* between two questions to the engine; 0: 30 s; less than 100 is taken as 100 */
  uint32_t reserved;
  void* user_data;
  void (*on_device)(const enginehost_device_event* event, void* user_data);
} enginehost_watch;
#define ENGINEHOST_WATCH_INIT {sizeof(enginehost_watch), NULL, 0, 0, NULL, NULL}
/* Has a thread look after the engine's devices, also while the application does not call: it asks the engine's own
 * self-test now and then, and at once when device files or the driver's version change (looked at each second), and
 * tells a loss (EH-R18) once and the way back once.  It opens a lost device again as enginehost_engine_check() does.
 * The callback runs on that thread, one call at a time; it may use the engine if no other thread does, end the watch
 * and free the engine, but must not unload this library.  One watch per handle: another call replaces the one before,
 * NULL ends it, and so does freeing the engine; both wait for a callback that runs on the watch's thread, so hold no
 * lock then that it takes, and cancel a question that is under way. */
ENGINEHOST_API enginehost_status enginehost_engine_watch(enginehost_engine* engine, const enginehost_watch* watch,
                                                         enginehost_error** error) ENGINEHOST_NOEXCEPT;

/* ---- models ---- */
/* format NULL: by the file's extension; the device is chosen as above. */
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
  uint8_t dtype_code, dtype_bits; /* as DLPack's DLDataType, of one lane; bits 0: any; strings: see below */
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

/* Strings are no type of DLPack's.  Here they have code 200 and 128 bits, also in a DLManagedTensorVersioned that is
 * given out: other programs do not know them.  Each element is one of these, in host memory; what it points at lives as
 * long as its tensor. */
#define ENGINEHOST_DTYPE_STRING 200
typedef struct enginehost_string {
  const char* data; /* any bytes; no NUL at the end */
  uint64_t length;
} enginehost_string;

typedef struct enginehost_input {
  const char* name; /* may be NULL when the model has one input; given once, unless the input is a list */
  /* A DLTensor in host memory or on the model's device; not written.  It is row-major and compact (strides are NULL, or
   * what they would be), its type has one lane; else EH-P44.  Where it begins at no multiple of its element's size, it
   * is copied first in host memory, and EH-P44 on a device. */
  const void* tensor;
} enginehost_input;
/* Runs the model once.  Several threads may run one model; they wait for each other unless the engine says that its
 * models need not.  [any] */
ENGINEHOST_API enginehost_status enginehost_model_run(enginehost_model* model, const enginehost_input* inputs,
                                                      size_t input_count, const enginehost_cancel* cancel,
                                                      enginehost_outputs** out,
                                                      enginehost_error** error) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API void enginehost_outputs_free(enginehost_outputs* outputs) ENGINEHOST_NOEXCEPT;
ENGINEHOST_API size_t enginehost_outputs_count(const enginehost_outputs* outputs) ENGINEHOST_NOEXCEPT;
/* The output's name; for a dictionary "name.key". */
ENGINEHOST_API const char* enginehost_outputs_name(const enginehost_outputs* outputs,
                                                   size_t number) ENGINEHOST_NOEXCEPT;
/* A DLTensor to look at, in host memory, row-major and compact, until the outputs are freed or the tensor is taken; NULL
 * for a number that is too large or taken. */
ENGINEHOST_API const void* enginehost_outputs_tensor(const enginehost_outputs* outputs,
                                                     size_t number) ENGINEHOST_NOEXCEPT;
/* The tensor with its memory, the caller's from here on: call its deleter, before the engine is freed.  NULL for a
 * number that is too large or taken already. */
ENGINEHOST_API struct DLManagedTensorVersioned* enginehost_outputs_take(enginehost_outputs* outputs,
                                                                        size_t number) ENGINEHOST_NOEXCEPT;

/* A copy of `tensor` (a DLTensor as an input is, of numbers; else EH-P44; in host memory or on a device of the engine's,
 * else EH-P49) in memory of the engine's on a device, chosen as above, or in host memory, which "cpu" means also where the
 * engine does not compute there; the caller calls its deleter, before the engine is freed.  *out is NULL, with ENGINEHOST_OK, when the tensor lies there already (host memory is one place): use the one
 * you have. */
ENGINEHOST_API enginehost_status enginehost_tensor_copy(enginehost_engine* engine, const void* tensor,
                                                        const char* device, const enginehost_cancel* cancel,
                                                        struct DLManagedTensorVersioned** out,
                                                        enginehost_error** error) ENGINEHOST_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
