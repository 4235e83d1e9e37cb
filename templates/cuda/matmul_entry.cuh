extern "C" __global__ void __launch_bounds__(256)
    @NAME@(const @TYPE@* a, const @TYPE@* b, const @TYPE@* d, const MatmulShape shape@PARAMETERS@) {
  @RETURN@typedef @ALGORITHM@<@TYPE@, @SUM@, @NUMBER@, @FLOATING@> Product;
  __shared__ Product::Shared shared;
  Product::run(a, b, d, shape, shared, [&](int64_t position, @TYPE@ product) {
    @RESULT@
  });
}

