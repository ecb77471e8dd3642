# AMD's hipcc, its headers and its runtime library, of ROCm or of Debian. Only the kernels go through hipcc; host code is
# compiled by the project's own compiler. CMake's HIP language is not used: it does not find Debian's packages.
set(rocm_hints $ENV{ROCM_PATH} /opt/rocm)
find_program(VRAMBENCH_HIPCC hipcc HINTS ${rocm_hints} PATH_SUFFIXES bin)
find_path(VRAMBENCH_HIP_INCLUDE hip/hip_runtime_api.h HINTS ${rocm_hints} PATH_SUFFIXES include)
find_library(VRAMBENCH_HIP_LIBRARY amdhip64 HINTS ${rocm_hints} PATH_SUFFIXES lib)

# The cards of this machine; on a machine without one, families that Debian's 5.2.3 and ROCm both know.
if(NOT DEFINED VRAMBENCH_HIP_ARCHITECTURES)
  set(VRAMBENCH_HIP_ARCHITECTURES gfx906 gfx90a gfx1030)
  find_program(VRAMBENCH_ROCM_ENUMERATOR rocm_agent_enumerator HINTS ${rocm_hints} PATH_SUFFIXES bin)
  if(VRAMBENCH_ROCM_ENUMERATOR)
    execute_process(COMMAND ${VRAMBENCH_ROCM_ENUMERATOR} OUTPUT_VARIABLE cards RESULT_VARIABLE failed ERROR_QUIET)
    string(REGEX MATCHALL "gfx[0-9a-f]+" cards "${cards}")
    list(REMOVE_ITEM cards gfx000)    # the CPU
    if(NOT failed AND cards)
      list(REMOVE_DUPLICATES cards)
      set(VRAMBENCH_HIP_ARCHITECTURES ${cards})
    endif()
  endif()
endif()
list(TRANSFORM VRAMBENCH_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE VRAMBENCH_HIP_TARGETS)

# A compiler that does not know the card is told now, in its own words.
if(VRAMBENCH_HIPCC AND VRAMBENCH_HIP_INCLUDE AND VRAMBENCH_HIP_LIBRARY)
  set(probe ${CMAKE_BINARY_DIR}/hip_probe)
  file(WRITE ${probe}.hip "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* p) { *p = warpSize; }\n")
  if(NOT VRAMBENCH_HIP_PROBED STREQUAL "${VRAMBENCH_HIPCC} ${VRAMBENCH_HIP_TARGETS}")
    execute_process(COMMAND ${VRAMBENCH_HIPCC} -x hip -std=c++20 ${VRAMBENCH_HIP_TARGETS} -c ${probe}.hip -o ${probe}.o
      RESULT_VARIABLE hip_failed ERROR_VARIABLE hip_words OUTPUT_QUIET)
    if(NOT hip_failed)
      set(VRAMBENCH_HIP_PROBED "${VRAMBENCH_HIPCC} ${VRAMBENCH_HIP_TARGETS}" CACHE INTERNAL "what hipcc was tried with")
    endif()
  endif()
endif()

if(NOT VRAMBENCH_HIPCC)
  vendor_missing(HIP "no hipcc was found (is it on PATH, or ROCM_PATH set?)")
elseif(NOT VRAMBENCH_HIP_INCLUDE OR NOT VRAMBENCH_HIP_LIBRARY)
  vendor_missing(HIP "hipcc is there, but hip/hip_runtime_api.h or libamdhip64.so is not")
elseif(hip_failed)
  string(REGEX MATCH "[^\n]*error:[^\n]*" hip_words "${hip_words}")
  string(REPLACE ";" " " hip_list "${VRAMBENCH_HIP_ARCHITECTURES}")
  vendor_missing(HIP "hipcc does not compile for ${hip_list}: ${hip_words}")
else()
  string(REPLACE ";" " " hip_list "${VRAMBENCH_HIP_ARCHITECTURES}")
  vendor_found(HIP "${VRAMBENCH_HIPCC}, architectures ${hip_list}")
endif()
