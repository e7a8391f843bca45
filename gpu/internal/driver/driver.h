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

/* X(name in the library, short name, arguments) */
#define BELSIM_DRIVER_FUNCTIONS(X) \
	X(cuInit, Init, (unsigned flags)) \
	X(cuGetErrorName, GetErrorName, (CUresult r, const char **name)) \
	X(cuGetErrorString, GetErrorString, (CUresult r, const char **text)) \
	X(cuDeviceGetCount, DeviceGetCount, (int *count)) \
	X(cuDeviceGet, DeviceGet, (CUdevice *device, int ordinal)) \
	X(cuDeviceGetName, DeviceGetName, (char *name, int size, CUdevice device)) \
	X(cuDeviceGetAttribute, DeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device)) \
	X(cuDevicePrimaryCtxRetain, DevicePrimaryCtxRetain, (CUcontext *context, CUdevice device)) \
	X(cuDevicePrimaryCtxRelease_v2, DevicePrimaryCtxRelease, (CUdevice device)) \
	X(cuCtxSetCurrent, CtxSetCurrent, (CUcontext context)) \
	X(cuModuleLoadDataEx, ModuleLoadDataEx, \
	  (CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values)) \
	X(cuModuleUnload, ModuleUnload, (CUmodule module)) \
	X(cuModuleGetFunction, ModuleGetFunction, (CUfunction *function, CUmodule module, const char *name)) \
	X(cuMemGetInfo_v2, MemGetInfo, (size_t *free, size_t *total)) \
	X(cuMemAlloc_v2, MemAlloc, (CUdeviceptr *address, size_t bytes)) \
	X(cuMemFree_v2, MemFree, (CUdeviceptr address)) \
	X(cuMemcpyHtoDAsync_v2, MemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
	X(cuMemcpyDtoH_v2, MemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes)) \
	X(cuMemsetD8Async, MemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)) \
	X(cuStreamCreate, StreamCreate, (CUstream *stream, unsigned flags)) \
	X(cuStreamDestroy_v2, StreamDestroy, (CUstream stream)) \
	X(cuStreamSynchronize, StreamSynchronize, (CUstream stream)) \
	X(cuLaunchKernel, LaunchKernel, \
	  (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
	   unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra))

#endif
