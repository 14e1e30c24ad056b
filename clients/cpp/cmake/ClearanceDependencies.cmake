# What the client is linked with: gRPC's C++ library, protobuf, and threads. Found by pkg-config, as Debian's packages and
# builds of gRPC by hand both have them.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(CLEARANCE_GRPC REQUIRED IMPORTED_TARGET grpc++>=1.51 protobuf>=3.21)
