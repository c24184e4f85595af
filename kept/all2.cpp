#include "engines/etcd/locks/transactions.cpp"
#include "engines/etcd/locks/own_entries.cpp"
#include "engines/etcd/locks/engine.cpp"
#include "engines/etcd/frame.cpp"
