# NVIDIA's toolkit: from 12.0 on, and CMake must know its compiler.
include(CheckLanguage)
set(CMAKE_CUDA_RUNTIME_LIBRARY None)    # what links the runtime says which: device/CMakeLists.txt
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  include(cuda_architectures)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)    # CMake 3.25 does not know that nvcc has C++20 from 12.0 on
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit 12.0)
endif()
if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND)
  vendor_found(CUDA "toolkit ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
  vendor_missing(CUDA "no nvcc of a toolkit from 12.0 on was found (is it on PATH?)")
endif()
