// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/views/fst.h"

#if __has_include("gtkwave/fstapi.h")  // older: GTKWave's

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

namespace {

thread_local int fst_error = 0;  // errno of the first failure, or 0

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

// The writer puts signal names into a separate file and maps it into memory; a
// signal would end the program if the file were shorter than expected. The
// reader unpacks files beside the waveform (name.hier_..., name.upk_...); on a
// full disk they would be empty, and it would find no signals. All of these
// files are therefore kept in memory.
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

void BeginFst() { fst_error = 0; }
int EndFst(const std::string&) { return fst_error; }

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

#else  // Verilator's own writer

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>

namespace systole::views {
namespace {

// An FST file is a sequence of blocks. A block has one byte of type and eight
// bytes of length, most significant first. The length includes itself but not
// the type. The header, of type 0, comes first and is written last.
bool IsComplete(int fd, int64_t size) {
  constexpr int64_t kHeaderBytes = 329;
  int64_t at = 0;
  while (at < size) {
    uint8_t head[9];
    if (pread(fd, head, sizeof head, at) != sizeof head) return false;
    uint64_t bytes = 0;
    for (int i = 1; i < 9; ++i) bytes = bytes << 8 | head[i];
    if (at == 0 && (head[0] != 0 || bytes != kHeaderBytes)) return false;
    if (bytes < 8 || bytes > static_cast<uint64_t>(size - at - 1)) return false;
    at += 1 + static_cast<int64_t>(bytes);
  }
  return size > 0;
}

}  // namespace

void BeginFst() {}

int EndFst(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat status = {};
  const bool complete =
      fstat(fd, &status) == 0 && IsComplete(fd, status.st_size);
  struct statvfs disk = {};
  const bool full = fstatvfs(fd, &disk) == 0 && disk.f_bavail == 0;
  close(fd);
  return complete ? 0 : full ? ENOSPC : EIO;
}

}  // namespace systole::views

#include "verilated_fst_c.cpp"

#endif
