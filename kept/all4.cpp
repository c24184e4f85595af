#include "engines/etcd/go/own_entries.cpp"
#include "engines/etcd/go/engine.cpp"
