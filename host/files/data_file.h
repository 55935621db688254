// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Files that come with the program, the demo's network and digits, and where
// results go that nobody has named a place for.
#ifndef SYSTOLE_HOST_FILES_DATA_FILE_H_
#define SYSTOLE_HOST_FILES_DATA_FILE_H_

#include <string>

namespace systole {

// `in_source` if that is there, as it is in the folder of the project;
// otherwise the file `in_share` of share/systole beside the program's folder,
// which an installation has, or `in_source` of the project that has the build
// folder; `in_source` if neither is there.
std::string DataFile(const std::string& in_source, const std::string& in_share);

// `in_source` if the program was started in the project's folder, which has a
// build folder for results; otherwise `elsewhere`.
std::string ResultPlace(const std::string& in_source,
                        const std::string& elsewhere);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_DATA_FILE_H_
