// A CUDA driver without a device, for tests: memory is the host's, and a launch
// runs the kernels of kernel.cu, compiled for the host, thread by thread. Any
// call can be made to fail, and everything that was not released is counted.
//
// The tests compile it to a library: see build.sh.

#include "../../kernel.cu"
#include "../../internal/driver/driver.h"

#include <mutex>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

namespace {

enum {
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	LAUNCH_FAILED = 719,
	UNKNOWN = 999
};

// Control is what tests read and write: the type emulator of Go.
struct Control {
	long devices = 1; // -1: cuInit fails
	long major = 9;   // compute capability
	long memory = 1L << 34;
	long calls = 0;
	long fail_at = 0; // the call that fails; 0: none
	long fail_with = UNKNOWN;
	long fail_ever = 0; // makes every later call fail
	long lost = 0;      // once failed, everything fails
	long wrong = 0;     // the kernel, from 1, that answers wrongly; 0: none
	long live = 0;      // what was made and not released
};

// State is what a process's driver remembers.
struct State : Control {
	std::mutex lock;
	long used = 0;
	bool started = false;
	std::map<CUdeviceptr, size_t> allocations;
	std::set<void *> modules, streams;
	State() {
		if (const char *at = getenv("BELSIM_EMULATOR_FAIL_AT")) { // another process is told by the environment
			fail_at = atol(at);
			fail_ever = 1;
		}
		if (const char *kernel = getenv("BELSIM_EMULATOR_WRONG")) {
			wrong = atol(kernel);
		}
	}
};

} // namespace

extern "C" {
State emulator_state;
}

namespace {

thread_local bool current; // a context is current in this thread

// Call is one call of the driver: it holds the lock and counts.
struct Call {
	State &s;
	std::lock_guard<std::mutex> guard;
	CUresult result = 0;
	explicit Call(bool needs_context = false) : s(emulator_state), guard(s.lock) {
		s.calls++;
		if (s.fail_at != 0 && s.calls == s.fail_at) {
			result = s.fail_with;
			s.lost = s.fail_ever;
		} else if (s.lost) {
			result = s.fail_with;
		} else if (needs_context && !current) {
			result = INVALID_CONTEXT;
		}
	}
};

// covers reports whether all bytes belong to one allocation.
bool covers(State &s, CUdeviceptr at, size_t bytes) {
	auto next = s.allocations.upper_bound(at);
	if (next == s.allocations.begin()) {
		return false;
	}
	auto it = std::prev(next);
	return at + bytes <= it->first + it->second;
}

const char *const names[] = {"hazards", "tables", "deal",
#define NAME(name, body) #name,
                             BEL_PLACE(NAME) BEL_LOGITS(NAME)
#undef NAME
};

typedef void (*PlaceThread)(const bel_launch &, u32 task, u32 thread, u32 grid_thread, u32 grid_threads, const Task &, Sum &);

#define THREAD(name, body) \
	void name(const bel_launch &a, u32 task, u32 thread, u32 grid_thread, u32 grid_threads, const Task &t, Sum &s) { \
		(void)grid_thread, (void)grid_threads; \
		body; \
	}
BEL_PLACE(THREAD)
#undef THREAD

const PlaceThread places[] = {
#define POINTER(name, body) name,
	BEL_PLACE(POINTER)
#undef POINTER
};

const size_t place_count = sizeof places / sizeof *places;

typedef void (*LogitsThread)(const bel_launch &, u32 thread, u32 grid_thread, u32 grid_threads, const Task &, RealSum &);

#define THREAD(name, body) \
	void name(const bel_launch &a, u32 thread, u32 grid_thread, u32 grid_threads, const Task &t, RealSum &s) { body; }
BEL_LOGITS(THREAD)
#undef THREAD

const LogitsThread logits[] = {
#define POINTER(name, body) name,
	BEL_LOGITS(POINTER)
#undef POINTER
};

void add(const bel_launch &a, u32 entry, const RealSum &s) {
	u64 *sums = pointer<u64>(a.sums) + (u64)BEL_SUMS * entry;
	const u64 own[BEL_SUMS] = {s.abs, s.square};
	for (u32 i = 0; i < BEL_SUMS; i++) {
		sums[i] += own[i];
	}
}

// run runs a kernel of groups thread blocks.
void run(size_t kernel, u32 groups, const bel_launch &a) {
	const u64 threads = (u64)groups * BEL_THREADS;
	switch (kernel) {
	case 0:
		for (u64 i = 0; i < threads && i < (u64)a.entries * a.words; i++) {
			hazards_word(a, (u32)(i / a.words), (u32)(i % a.words));
		}
		return;
	case 1:
		for (u64 entry = 0; entry < threads && entry < a.entries; entry++) {
			tables_of(a, (u32)entry);
		}
		return;
	case 2:
		for (u64 task = 0; task < threads / BEL_WARP && task < a.tasks; task++) {
			deal_task(a, (u32)task, 0);
		}
		return;
	}
	for (u32 group = 0; group < groups; group++) {
		for (u32 task = group; task < a.tasks; task += groups) {
			Task t;
			memset((void *)&t, 0xA5, sizeof t); // shared memory holds anything
			const size_t place = kernel - 3;
			for (u32 thread = 0; thread < BEL_THREADS; thread++) {
				place < place_count ? open_task(a, task, thread, t) : open_logits(a, task, thread, t);
			}
			for (u32 thread = 0; thread < BEL_THREADS; thread++) {
				const u32 grid_thread = group * BEL_THREADS + thread, grid_threads = groups * BEL_THREADS;
				if (place < place_count) {
					Sum s = {0, 0};
					places[place](a, task, thread, grid_thread, grid_threads, t, s);
					add(a, t.entry, {s.abs, s.square});
				} else {
					RealSum s = {};
					logits[place - place_count](a, thread, grid_thread, grid_threads, t, s);
					add(a, t.entry, s);
				}
			}
		}
	}
}

} // namespace

extern "C" {

CUresult cuInit(unsigned) {
	Call c;
	if (c.result == 0 && c.s.devices < 0) {
		return 100; // CUDA_ERROR_NO_DEVICE
	}
	c.s.started = c.result == 0;
	return c.result;
}

CUresult cuGetErrorName(CUresult r, const char **name) {
	switch (r) {
	case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
	case 100: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
	case 201: *name = "CUDA_ERROR_INVALID_CONTEXT"; return 0;
	case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
	case 999: *name = "CUDA_ERROR_UNKNOWN"; return 0;
	}
	return INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult r, const char **text) {
	switch (r) {
	case 2: *text = "out of memory"; return 0;
	case 100: *text = "no CUDA-capable device is detected"; return 0;
	case 201: *text = "invalid device context"; return 0;
	case 719: *text = "unspecified launch failure"; return 0;
	case 999: *text = "unknown error"; return 0;
	}
	return INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
	Call c;
	*count = c.s.devices;
	return c.s.started ? c.result : NOT_INITIALIZED;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
	Call c;
	*device = ordinal;
	return c.result;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice) {
	Call c;
	strncpy(name, "emulated device", size);
	return c.result;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
	Call c;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = c.s.major; break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 2; break;
	default: return INVALID_VALUE;
	}
	return c.result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
	Call c;
	if (c.result == 0) {
		c.s.live++;
		*context = (CUcontext)&c.s;
	}
	return c.result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
	Call c;
	c.s.live--; // a failing driver must not be asked twice
	return c.result;
}

CUresult cuCtxSetCurrent(CUcontext context) {
	Call c;
	if (c.result == 0) {
		current = context != nullptr;
	}
	return c.result;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, CUjit_option *, void **) {
	Call c(true);
	if (c.result == 0 && strstr((const char *)image, ".entry deal") == nullptr) {
		return INVALID_VALUE;
	}
	if (c.result == 0) {
		*module = (CUmodule) new char;
		c.s.modules.insert(*module);
		c.s.live++;
	}
	return c.result;
}

CUresult cuModuleUnload(CUmodule module) {
	Call c;
	if (c.s.modules.erase(module) == 0) {
		return INVALID_HANDLE;
	}
	c.s.live--;
	delete (char *)module;
	return c.result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
	Call c(true);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0) {
			*function = (CUfunction)(i + 1);
			return c.result;
		}
	}
	return NOT_FOUND;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
	Call c(true);
	*total = c.s.memory;
	*free = c.s.memory - c.s.used;
	return c.result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
	Call c(true);
	if (c.result != 0) {
		return c.result;
	}
	if (bytes == 0 || c.s.used + (long)bytes > c.s.memory) {
		return bytes == 0 ? INVALID_VALUE : OUT_OF_MEMORY;
	}
	void *p = malloc(bytes);
	if (p == nullptr) {
		return OUT_OF_MEMORY;
	}
	memset(p, 0x5A, bytes); // a device's memory holds anything
	*address = (CUdeviceptr)p;
	c.s.allocations[*address] = bytes;
	c.s.live++;
	c.s.used += bytes;
	return 0;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
	Call c;
	auto it = c.s.allocations.find(address);
	if (it == c.s.allocations.end()) {
		return INVALID_VALUE;
	}
	c.s.used -= it->second;
	c.s.allocations.erase(it);
	c.s.live--;
	free((void *)address);
	return c.result;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream) {
	Call c(true);
	if (!covers(c.s, to, bytes)) {
		return INVALID_VALUE;
	}
	memcpy((void *)to, from, bytes);
	return c.result;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
	Call c(true);
	if (!covers(c.s, from, bytes)) {
		return INVALID_VALUE;
	}
	memcpy(to, (const void *)from, bytes);
	return c.result;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
	Call c(true);
	if (!covers(c.s, to, bytes)) {
		return INVALID_VALUE;
	}
	memset((void *)to, value, bytes);
	return c.result;
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
	Call c(true);
	if (c.result == 0) {
		*stream = (CUstream) new char;
		c.s.streams.insert(*stream);
		c.s.live++;
	}
	return c.result;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
	Call c;
	if (c.s.streams.erase(stream) == 0) {
		return INVALID_HANDLE;
	}
	c.s.live--;
	delete (char *)stream;
	return c.result;
}

CUresult cuStreamSynchronize(CUstream stream) {
	Call c(true);
	if (c.s.streams.count(stream) == 0) {
		return INVALID_HANDLE;
	}
	return c.result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned, CUstream stream, void **arguments, void **) {
	Call c(true);
	if (c.s.streams.count(stream) == 0 || grid_x == 0 || grid_y * grid_z * block_y * block_z != 1 || block_x != BEL_THREADS) {
		return INVALID_VALUE;
	}
	if (c.result == 0) {
		const bel_launch &a = *(const bel_launch *)arguments[0];
		run((size_t)function - 1, grid_x, a);
		if ((long)(size_t)function == c.s.wrong) {
			pointer<u64>(a.sums)[0]++;
		}
	}
	return c.result;
}

}
