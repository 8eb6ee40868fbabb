enginehost_stub(CURL::libcurl libcurl.so /usr/lib/libcurl.4.dylib)
set(CURL_FOUND TRUE)
