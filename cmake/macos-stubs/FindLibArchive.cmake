enginehost_stub(LibArchive::LibArchive libarchive.so "${ENGINEHOST_HOMEBREW}/opt/libarchive/lib/libarchive.13.dylib")
set(LibArchive_FOUND TRUE)
