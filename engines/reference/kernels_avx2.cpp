#define ENGINEHOST_LANES 8
#define ENGINEHOST_TILE_ROWS 6
#define ENGINEHOST_KERNELS avx2_kernels
#define ENGINEHOST_KERNELS_NAME "avx2"
#include "engines/reference/kernels_body.inc"
