#include "host/transfer/connection_settings.hpp"

#include "base/windows/system.hpp"

// After <windows.h>.
#include <wincrypt.h>

namespace enginehost::transfer {
namespace {

std::string pem_of(const CERT_CONTEXT& certificate) {
  DWORD size = 0;
  const DWORD form = CRYPT_STRING_BASE64HEADER | CRYPT_STRING_NOCR;
  if (::CryptBinaryToStringA(certificate.pbCertEncoded, certificate.cbCertEncoded, form, nullptr, &size) == 0)
    return {};
  std::string text(size, '\0');  // its last byte is for a zero
  if (::CryptBinaryToStringA(certificate.pbCertEncoded, certificate.cbCertEncoded, form, text.data(),
                             &size) == 0)
    return {};
  text.resize(size);
  return text;
}

}  // namespace

std::string system_certificates(std::uint64_t limit) {
  std::string text;
  const HCERTSTORE store = ::CertOpenSystemStoreW(0, L"ROOT");
  if (store == nullptr) return text;
  const CERT_CONTEXT* certificate = nullptr;
  while ((certificate = ::CertEnumCertificatesInStore(store, certificate)) != nullptr)
    if (const std::string pem = pem_of(*certificate); text.size() + pem.size() <= limit) text += pem;
  ::CertCloseStore(store, 0);
  return text;
}

bool needs_given_certificates() {
  static const bool wine = ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
  return wine;
}

}  // namespace enginehost::transfer
