# Which GPU back ends are built. One source for all vendors; each is a target behind an option with the values AUTO, ON, OFF.
# AUTO builds what it finds and says why it does not build the rest; ON ends the configuration with that reason.
set(VRAMBENCH_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: AUTO, ON or OFF")
set(VRAMBENCH_HIP AUTO CACHE STRING "Build for AMD GPUs: AUTO, ON or OFF")
set(VRAMBENCH_MUSA AUTO CACHE STRING "Build for Moore Threads GPUs: AUTO, ON or OFF")

option(VRAMBENCH_VENDOR_WERROR "Treat warnings in the GPU back ends as errors" ${VRAMBENCH_WERROR})

# vendor_found(CUDA "toolkit 13.0") or vendor_missing(CUDA "no nvcc"): notes it, and says so.
macro(vendor_found vendor how)
  set(VRAMBENCH_HAVE_${vendor} ON)
  message(STATUS "${vendor}: yes, ${how}")
endmacro()
macro(vendor_missing vendor why)
  set(VRAMBENCH_HAVE_${vendor} OFF)
  if(VRAMBENCH_${vendor} STREQUAL "ON")
    message(FATAL_ERROR "VRAMBENCH_${vendor}=ON, but ${why}")
  endif()
  message(STATUS "${vendor}: no, ${why}")
endmacro()

foreach(vendor CUDA HIP MUSA)
  if(NOT VRAMBENCH_${vendor} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "VRAMBENCH_${vendor}=${VRAMBENCH_${vendor}}: must be AUTO, ON or OFF")
  endif()
  set(VRAMBENCH_HAVE_${vendor} OFF)
  if(VRAMBENCH_${vendor} STREQUAL "OFF")
    message(STATUS "${vendor}: no, VRAMBENCH_${vendor}=OFF")
  else()
    string(TOLOWER ${vendor} name)
    include(find_${name})
  endif()
endforeach()
