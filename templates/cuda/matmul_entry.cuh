extern "C" __global__ void __launch_bounds__(256)
    aotc_@NAME@(const @TYPE@* a, const @TYPE@* b, @TYPE@* c, const @TYPE@* d,
                       const MatmulShape shape@FAILURE@) {
  @RETURN@__shared__ @SUM@ a_tile[kMatmulStep][kMatmulTile + 1];
  __shared__ @SUM@ b_tile[kMatmulStep][kMatmulTile + 1];
  matmul_tile<@TYPE@, @SUM@, @NUMBER@, @FLOATING@>(a, b, c, d, shape, a_tile, b_tile);
}

