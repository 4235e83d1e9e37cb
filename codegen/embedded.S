/* Source files that the code generator copies from, as bytes of aotc itself. */
#define EMBED(name, file)                                   \
  .section .rodata.name, "a";                               \
  .global name##_begin; .global name##_end;                 \
  name##_begin: .incbin file; name##_end: .byte 0
EMBED(aotc_scalar_h, AOTC_SCALAR_H)
EMBED(aotc_kernel_prologue, AOTC_KERNEL_PROLOGUE)
EMBED(aotc_cuda_compilers, AOTC_CUDA_COMPILERS)
EMBED(aotc_cuda_prologue, AOTC_CUDA_PROLOGUE)
EMBED(aotc_cuda_matmul, AOTC_CUDA_MATMUL)
EMBED(aotc_cuda_matmul_entry, AOTC_CUDA_MATMUL_ENTRY)
EMBED(aotc_cuda_matmul_launch, AOTC_CUDA_MATMUL_LAUNCH)
EMBED(aotc_program_decls, AOTC_PROGRAM_DECLS)
EMBED(aotc_template_decls, AOTC_TEMPLATE_DECLS)
.section .note.GNU-stack, "", @progbits
