#define ENGINEHOST_LANES 4
#define ENGINEHOST_TILE_ROWS 4
#define ENGINEHOST_KERNELS baseline_kernels
#define ENGINEHOST_KERNELS_NAME "baseline"
#include "engines/reference/kernels_body.inc"
