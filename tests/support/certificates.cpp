#include "tests/support/certificates.hpp"

#include <stdexcept>

#include "tests/support/host_programs.hpp"

namespace enginehost::test {
namespace {

void openssl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "openssl");
  if (!run_host_program(arguments)) throw std::runtime_error("openssl cannot make a certificate");
}

}  // namespace

Certificates::Certificates(const std::string& from, const std::string& until) : Certificates() {
  const auto at = [this](const char* name) { return host_path(folder_ / name); };
  write_text(folder_ / "ca.cnf", "[ca]\ndefault_ca=it\n[it]\ndatabase=" + at("index.txt") +
                                     "\nnew_certs_dir=" + at("") + "\nserial=" + at("serial") +
                                     "\ndefault_md=sha256\npolicy=names\n[names]\ncommonName=supplied\n");
  write_text(folder_ / "index.txt", "");
  write_text(folder_ / "serial", "01\n");
  openssl({"ca", "-batch", "-notext", "-config", at("ca.cnf"), "-cert", at("ca.pem"), "-keyfile",
           at("ca.key"), "-in", at("server.csr"), "-out", at("server.pem"), "-extfile", at("extensions"),
           "-startdate", from, "-enddate", until});
}

Certificates::Certificates() {
  const auto at = [this](const char* name) { return host_path(folder_ / name); };
  openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
           "-subj", "/CN=Test authority", "-keyout", at("ca.key"), "-out", at("ca.pem")});
  openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
           "-keyout", at("server.key"), "-out", at("server.csr")});
  write_text(folder_ / "extensions", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  openssl({"x509", "-req", "-in", at("server.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"),
           "-CAcreateserial", "-days", "2", "-extfile", at("extensions"), "-out", at("server.pem")});
  write_text(folder_ / "client.pem", read_text(folder_ / "server.pem") + read_text(folder_ / "server.key"));
  write_text(folder_ / "authorities/ca.pem", read_text(folder_ / "ca.pem"));
  openssl({"rehash", at("authorities")});
}

std::string Certificates::directives(int port, bool asks) const {
  return "listen 127.0.0.1:" + std::to_string(port) + " ssl; ssl_certificate " +
         host_path(folder_ / "server.pem") + "; ssl_certificate_key " + host_path(folder_ / "server.key") +
         ";" +
         (asks ? " ssl_verify_client on; ssl_client_certificate " + host_path(folder_ / "ca.pem") + ";" : "");
}

}  // namespace enginehost::test
