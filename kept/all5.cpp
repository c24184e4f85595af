#include "engines/etcd/go/acquire.cpp"
