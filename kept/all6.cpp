#include "engines/etcd/locks/settle.cpp"
#include "engines/etcd/locks/release.cpp"
