# A user's choice stays. Else the cards of this machine; on a machine without one, every major architecture ("native"
# would fail there).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES all-major)
  find_program(NVIDIA_SMI nvidia-smi)
  if(NVIDIA_SMI)
    execute_process(COMMAND ${NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE caps RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed AND caps MATCHES "^[0-9]+\\.[0-9]+")
      string(REPLACE "\n" ";" caps "${caps}")
      list(TRANSFORM caps STRIP)
      list(REMOVE_DUPLICATES caps)
      list(TRANSFORM caps REPLACE "\\." "")
      set(CMAKE_CUDA_ARCHITECTURES ${caps})
    endif()
  endif()
endif()
