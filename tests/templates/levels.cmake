# Each CPU level's template archive as a shared library, for programs that choose a level at run time.
include_guard(GLOBAL)

set(here ${CMAKE_CURRENT_LIST_DIR})
set(levels ${AOTC_TEMPLATE_LEVELS})
if("x86-64-v3" IN_LIST levels)
  # The tiles of 64-byte vectors, on instructions that more machines have.
  aotc_add_templates(aotc_templates_wide -march=x86-64-v3 -DAOTC_VECTOR_BYTES=64
                     -DAOTC_VECTOR_REGISTERS=32)
  set_target_properties(aotc_templates_wide PROPERTIES
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/templates)
  list(APPEND levels wide)
endif()

foreach(level ${levels})
  add_library(matmul_${level} MODULE ${here}/matmul_table.cpp)
  set_target_properties(matmul_${level} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/templates)
  target_link_libraries(matmul_${level} PRIVATE aotc_options aotc_templates_${level})
endforeach()
set_property(GLOBAL PROPERTY AOTC_TEST_LEVELS "${levels}")

# aotc_use_template_levels(<target>): adds levels.h, and tells it which libraries there are, and where.
function(aotc_use_template_levels target)
  get_property(levels GLOBAL PROPERTY AOTC_TEST_LEVELS)
  list(JOIN levels " " names)
  list(TRANSFORM levels PREPEND matmul_)
  add_dependencies(${target} ${levels})
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/levels.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}
                             ${PROJECT_SOURCE_DIR}/templates)
  target_compile_definitions(${target} PRIVATE AOTC_TEMPLATE_LEVELS="${names}"
    AOTC_TEMPLATE_LIBRARIES="${PROJECT_BINARY_DIR}/tests/templates")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} pthread)
endfunction()
