#include "engines/etcd/locks/acquire.cpp"
