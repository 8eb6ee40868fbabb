#define ENGINEHOST_LANES 16
#define ENGINEHOST_TILE_ROWS 12
#define ENGINEHOST_KERNELS avx512_kernels
#define ENGINEHOST_KERNELS_NAME "avx512"
#include "engines/reference/kernels_body.inc"
