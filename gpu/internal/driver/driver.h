/* The part of the CUDA driver's interface that is used, as pointers to
 * functions: the driver is opened at run time and not linked. Names and types
 * are those of NVIDIA's documentation. */
#ifndef BELSIM_DRIVER_H
#define BELSIM_DRIVER_H

#include <stddef.h>

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUjit_option;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;

enum {
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	CU_JIT_ERROR_LOG_BUFFER = 5,
	CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
	CU_STREAM_NON_BLOCKING = 1
};

/* X(name in the library, short name, parameters, their names) */
#define BELSIM_DRIVER_FUNCTIONS(X) \
	X(cuInit, Init, (unsigned flags), (flags)) \
	X(cuGetErrorName, GetErrorName, (CUresult r, const char **name), (r, name)) \
	X(cuGetErrorString, GetErrorString, (CUresult r, const char **text), (r, text)) \
	X(cuDeviceGetCount, DeviceGetCount, (int *count), (count)) \
	X(cuDeviceGet, DeviceGet, (CUdevice *device, int ordinal), (device, ordinal)) \
	X(cuDeviceGetName, DeviceGetName, (char *name, int size, CUdevice device), (name, size, device)) \
	X(cuDeviceGetAttribute, DeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device), \
	  (value, attribute, device)) \
	X(cuDevicePrimaryCtxRetain, DevicePrimaryCtxRetain, (CUcontext *context, CUdevice device), (context, device)) \
	X(cuDevicePrimaryCtxRelease_v2, DevicePrimaryCtxRelease, (CUdevice device), (device)) \
	X(cuCtxSetCurrent, CtxSetCurrent, (CUcontext context), (context)) \
	X(cuModuleLoadDataEx, ModuleLoadDataEx, \
	  (CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values), \
	  (module, image, count, options, values)) \
	X(cuModuleUnload, ModuleUnload, (CUmodule module), (module)) \
	X(cuModuleGetFunction, ModuleGetFunction, (CUfunction *function, CUmodule module, const char *name), \
	  (function, module, name)) \
	X(cuMemGetInfo_v2, MemGetInfo, (size_t *free, size_t *total), (free, total)) \
	X(cuMemAlloc_v2, MemAlloc, (CUdeviceptr *address, size_t bytes), (address, bytes)) \
	X(cuMemFree_v2, MemFree, (CUdeviceptr address), (address)) \
	X(cuMemcpyHtoDAsync_v2, MemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), \
	  (to, from, bytes, stream)) \
	X(cuMemcpyDtoH_v2, MemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes)) \
	X(cuMemsetD8Async, MemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream), \
	  (to, value, bytes, stream)) \
	X(cuStreamCreate, StreamCreate, (CUstream *stream, unsigned flags), (stream, flags)) \
	X(cuStreamDestroy_v2, StreamDestroy, (CUstream stream), (stream)) \
	X(cuStreamSynchronize, StreamSynchronize, (CUstream stream), (stream)) \
	X(cuLaunchKernel, LaunchKernel, \
	  (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
	   unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra), \
	  (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments, extra))

#endif
