// Locks that Prometheus sees, through prometheus-cpp.
//
//   prometheus redis://127.0.0.1:6379
#include <tyer/prometheus.hpp>
#include <tyer/tyer.hpp>

#include <prometheus/exposer.h>

#include <iostream>
#include <memory>
#include <string_view>

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  tyer::client client{uri};
  // [expose]
  prometheus::Exposer exposer{"127.0.0.1:0"};  // in your program ":9464", or wherever Prometheus finds it
  const auto locks = std::make_shared<tyer::prometheus_collector>(client);
  exposer.RegisterCollectable(locks);  // it keeps no more than a weak_ptr: keep `locks`
  // [expose]
  tyer::mutex order{client, "order/42"};
  const tyer::hold h = order.acquire();
  for (const auto& family : locks->Collect()) std::cout << family.name << ": " << family.help << '\n';
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
