#!/bin/sh
# Compiles the emulator to the library FILE. $CXX names the compiler, c++ where it
# is not set; $CGO_CXXFLAGS are more options. Exit code 77: no C++ compiler works.
#
#	sh build.sh FILE
set -eu
cxx=${CXX:-c++}
if ! echo '#include <map>' | $cxx -std=c++17 -x c++ -fsyntax-only - >&2; then
	exit 77
fi
exec $cxx -std=c++17 -O1 -Wall -Wextra -Werror ${CGO_CXXFLAGS:-} -shared -fPIC -ftls-model=initial-exec -o "$1" "$(dirname "$0")/emulator.cc"
