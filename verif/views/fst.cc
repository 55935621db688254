// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/views/fst.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <string_view>

#include "verilated.h"
#include "verilated_fst_c.h"

namespace systole::views {

thread_local int fst_error = 0;

namespace {

void Keep(bool failed) {
  if (failed && fst_error == 0) fst_error = errno != 0 ? errno : EIO;
}

size_t Write(const void* data, size_t size, size_t count, FILE* file) {
  errno = 0;
  const size_t written = fwrite(data, size, count, file);
  Keep(written != count);
  return written;
}
int Put(int byte, FILE* file) {
  errno = 0;
  const int put = fputc(byte, file);
  Keep(put == EOF);
  return put;
}
int Flush(FILE* file) {
  errno = 0;
  const int result = fflush(file);
  Keep(result != 0);
  return result;
}
int Seek(FILE* file, off_t offset, int whence) {
  errno = 0;
  const int result = fseeko(file, offset, whence);
  Keep(result != 0);
  return result;
}
int Close(FILE* file) {
  errno = 0;
  const bool failed = ferror(file) != 0;
  const int result = fclose(file);
  Keep(failed || result != 0);
  return result;
}
int ZWrite(gzFile file, const void* data, unsigned bytes) {
  errno = 0;
  const int written = gzwrite(file, data, bytes);
  Keep(bytes != 0 && written == 0);
  return written;
}
int ZClose(gzFile file) {
  errno = 0;
  const int result = gzclose(file);
  Keep(result != Z_OK);
  return result;
}
FILE* Temporary() {
  const int fd = memfd_create("fst", MFD_CLOEXEC);
  return fd < 0 ? nullptr : fdopen(fd, "w+b");
}

// The names of signals are written to a file beside, which is read as memory:
// shorter than was written, it would end the program. What the reader unpacks
// beside the waveform (name.hier_..., name.upk_...) would be empty on a full
// disk, and no signal be found.
FILE* Open(const char* name, const char* mode) {
  if (mode[0] != 'w') return fopen(name, mode);
  const std::string_view all = name;
  const std::string_view end = all.substr(all.rfind('.') + 1);
  const auto begins = [&](std::string_view with) {
    return end.substr(0, with.size()) == with;
  };
  return end == "hier" || begins("hier_") || begins("upk_") ? Temporary()
                                                            : fopen(name, mode);
}

}  // namespace
}  // namespace systole::views

#undef fputc
#define fwrite systole::views::Write
#define fputc systole::views::Put
#define fflush systole::views::Flush
#define fseeko systole::views::Seek
#define fclose systole::views::Close
#define gzwrite systole::views::ZWrite
#undef gzclose
#define gzclose systole::views::ZClose
#define fopen systole::views::Open
#define tmpfile systole::views::Temporary

#include "verilated_fst_c.cpp"
