enginehost_stub(LibArchive::LibArchive libarchive.so /usr/lib/libarchive.2.dylib)
set(LibArchive_FOUND TRUE)
