// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are written whole, and the folders that they go to.
//
//   absl::Status status = WriteFile(bytes, "out.tpu");
#ifndef SYSTOLE_HOST_FILES_WRITE_FILE_H_
#define SYSTOLE_HOST_FILES_WRITE_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace systole {

// A regular file changes as a whole or not at all: the bytes go to a temporary
// file beside it, which takes its place and its permissions. A symbolic link
// stays one, its target is written. What is no regular file (a device, a pipe)
// is written to, not replaced. Errors: InvalidArgument (no name), Unavailable
// (a folder), that of the system's number (absl::ErrnoToStatus); the message
// begins with the path.
absl::Status WriteFile(std::string_view bytes, const std::string& path);

// The files of one run, which change together, each as of WriteFile. Add writes
// a temporary file; Commit puts all in their places. What is no regular file is
// written to by Commit, before any of the others changes. Without Commit
// nothing is left.
//
//   FileSet files;
//   for (...) if (absl::Status s = files.Add(bytes, path); !s.ok()) return s;
//   return files.Commit();
class FileSet {
 public:
  FileSet() = default;
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();
  absl::Status Add(std::string_view bytes, const std::string& path);
  absl::Status Commit();

 private:
  struct Entry {
    std::string path;       // as it was given
    std::string target;     // behind all links
    std::string temporary;  // empty: `bytes` are for what is no regular file
    std::string bytes;
  };
  std::vector<Entry> entries_;
};

// The error that WriteFile would give for any bytes, as far as it can be told
// without writing: of a run of minutes the user should know before.
absl::Status CheckWritable(const std::string& path);

// kInvalidArgument if a result would take the place of a file that is read, or
// of another result, under whatever name. Devices and pipes hold as many as
// they are given; an empty name is no file.
absl::Status CheckDistinct(const std::vector<std::string>& results,
                           const std::vector<std::string>& read);

// The folder and those above it; it is no error if it is there. Errors: that
// of the system's number (it cannot be made, or not written to).
absl::Status MakeFolder(const std::string& path);
// The folder that the file is in, and those above it.
absl::Status MakeFolderOf(const std::string& path);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_WRITE_FILE_H_
