// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// .npy files: what NumPy writes is read, what is written NumPy reads, and
// nothing else is believed.
#include "host/npy/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"

namespace systole::npy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file as the format's description says, with any header text.
std::string File(int major, const std::string& header,
                 const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i));
  }
  return bytes + header + data;
}

std::string Dictionary(const std::string& descr, const std::string& order,
                       const std::string& shape) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order,
                      ", 'shape': ", shape, ", }\n");
}

std::string ErrorOf(const std::string& bytes) {
  const auto array = Parse(bytes, "x.npy");
  EXPECT_FALSE(array.ok());
  return std::string(array.status().message());
}

TEST(Npy, ReadsEveryVersion) {
  for (int major : {1, 2, 3}) {
    const auto array = Parse(
        File(major, Dictionary("|i1", "False", "(2, 3)"), "\1\2\3\4\5\xFF"),
        "x.npy");
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, Type::kInt8);
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
    EXPECT_THAT(array->bytes, ElementsAre(1, 2, 3, 4, 5, 255));
    EXPECT_EQ(Describe(*array), "int8 (2, 3)");
  }
  EXPECT_EQ(ErrorOf(File(4, "", "")), "x.npy: version 4.0 of the format");
}

TEST(Npy, PutsFortranOrderIntoRows) {
  // Columns of a 2 x 3 matrix of 16 bits.
  const std::string columns("\1\0\4\0\2\0\5\0\3\0\6\0", 12);
  const auto array =
      Parse(File(1, Dictionary("<i2", "True", "(2, 3)"), columns), "x.npy");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(array->bytes, ElementsAre(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0));
  const auto cube = Parse(
      File(1, Dictionary("|u1", "True", "(2, 2, 2)"), "aecgbfdh"), "x.npy");
  ASSERT_TRUE(cube.ok());
  EXPECT_EQ(std::string(cube->bytes.begin(), cube->bytes.end()), "abcdefgh");
}

TEST(Npy, ReadsScalarsVectorsAndNothing) {
  EXPECT_EQ(
      Parse(File(1, Dictionary("|i1", "False", "()"), "a"), "x")->elements(),
      1);
  EXPECT_EQ(Parse(File(1, Dictionary("|i1", "False", "(3,)"), "abc"), "x")
                ->elements(),
            3);
  EXPECT_EQ(
      Parse(File(1, Dictionary("<f4", "False", "(5, 0)"), ""), "x")->elements(),
      0);
  // Any order of keys, either quotes, blanks.
  const auto odd = Parse(
      File(1, "{ \"shape\":(1 , 2),'fortran_order' : False, \"descr\":\"<i1\"}",
           "ab"),
      "x");
  ASSERT_TRUE(odd.ok()) << odd.status();
  EXPECT_THAT(odd->shape, ElementsAre(1, 2));
}

// What a file of each type says, and what is read of it again.
TEST(Npy, ZeroElementsOfAnySizes) {
  const auto array = Parse(
      File(1, Dictionary("|i1", "False", "(1099511627776, 1099511627776, 0)"),
           ""),
      "x");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->elements(), 0);
}

TEST(Npy, KnowsTypesByTheirNames) {
  const std::pair<const char*, Type> types[] = {
      {"|b1", Type::kBool},     {"|i1", Type::kInt8},
      {"<i2", Type::kInt16},    {"<i4", Type::kInt32},
      {"<i8", Type::kInt64},    {"|u1", Type::kUint8},
      {"<u2", Type::kUint16},   {"<u4", Type::kUint32},
      {"<u8", Type::kUint64},   {"<f2", Type::kFloat16},
      {"<V2", Type::kBfloat16}, {"|V2", Type::kBfloat16},
      {"<f4", Type::kFloat32},  {"<f8", Type::kFloat64},
      {"<c8", Type::kComplex64}};
  for (const auto& [descr, type] : types) {
    SCOPED_TRACE(descr);
    const std::string data(TypeBytes(type), '\1');
    const auto array =
        Parse(File(1, Dictionary(descr, "False", "(1,)"), data), "x");
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, type);
    const auto again = Parse(Serialize(*array), "x");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->type, type);
    EXPECT_EQ(again->bytes, array->bytes);
  }
  EXPECT_EQ(
      Describe(*Parse(File(1, Dictionary("<V2", "False", "(1,)"), "ab"), "x")),
      "bfloat16 (1,)");
}

TEST(Npy, RefusesOtherTypes) {
  const auto error = [](const std::string& descr) {
    return ErrorOf(File(1, Dictionary(descr, "False", "(1,)"), "abcdefgh"));
  };
  EXPECT_EQ(error("<c16"), "x.npy: elements of type '<c16' are not supported");
  EXPECT_EQ(error(">f4"), "x.npy: elements of type '>f4' are big endian");
  EXPECT_EQ(error("|O"), "x.npy: elements of type '|O' are not supported");
  EXPECT_EQ(error("|V8"), "x.npy: elements of type '|V8' are not supported");
  EXPECT_EQ(error(""), "x.npy: elements of type '' are not supported");
  EXPECT_THAT(
      ErrorOf(File(
          1, "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}",
          "")),
      HasSubstr("an array of records"));
}

TEST(Npy, RefusesBrokenHeaders) {
  const struct {
    const char* header;
    const char* message;
  } kCases[] = {
      {"", "expected '{'"},
      {"{'descr': '|i1'", "expected ',' or '}'"},
      {"{'descr': '|i1", "expected a type in quotes"},
      {"{'descr': '|i1', 'shape': (1,)}", "no key 'fortran_order'"},
      {"{'descr': '|i1', 'descr': '|i1'}", "key 'descr' twice"},
      {"{'colour': 1}", "unknown key 'colour'"},
      {"{'fortran_order': yes}", "expected True or False"},
      {"{'shape': 3}", "expected '('"},
      {"{'shape': (3)}", "expected ',' in (n,)"},
      {"{'shape': (-3,)}", "dimension 0 of the shape is -3: 0 or more"},
      {"{'shape': (4, -1)}", "dimension 1 of the shape is -1: 0 or more"},
      {"{'shape': (- )}", "expected a size or ')'"},
      {"{'shape': (1.5,)}", "expected a size or ')'"},
      {"{'shape': (3 4)}", "expected a size or ')'"},
      {"{'shape': (99999999999999999999,)}",
       "dimension 0 of the shape is larger than 1099511627776"},
      {"{'shape': (1099511627777,)}",
       "dimension 0 of the shape is larger than 1099511627776"},
      {"{'descr': '|i1', 'fortran_order': False, 'shape': (1,)} x",
       "expected the end"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ErrorOf(File(1, c.header, "a")), HasSubstr(c.message))
        << c.header;
  }
  std::string ones;
  for (int i = 0; i < 33; ++i) ones += "1, ";
  EXPECT_THAT(
      ErrorOf(File(2, Dictionary("|i1", "False", "(" + ones + ")"), "a")),
      HasSubstr("more than 32 dimensions"));
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string bytes =
      File(1, Dictionary("<i4", "False", "(2, 2)"), std::string(16, 'x'));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto array = Parse(std::string(bytes, 0, size), "x.npy");
    ASSERT_EQ(array.status().code(), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_THAT(ErrorOf(bytes + "y"), HasSubstr("too long"));
  EXPECT_THAT(ErrorOf("PK\3\4"), HasSubstr("not a .npy file"));
  // Sizes whose product leaves 64 bits.
  EXPECT_THAT(
      ErrorOf(File(1,
                   Dictionary("<f8", "False", "(1099511627776, 1099511627776)"),
                   "a")),
      HasSubstr("truncated"));
}

TEST(Npy, RandomBytesNeverCrash) {
  const std::string good =
      File(1, Dictionary("<i4", "True", "(2, 2)"), std::string(16, 'x'));
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string bytes = good;
    for (int n = 1 + random() % 3; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto array = Parse(bytes, "x");
    refused += !array.ok();
    if (array.ok()) {
      ASSERT_EQ(static_cast<int64_t>(array->bytes.size()),
                array->elements() * TypeBytes(array->type));
    }
  }
  EXPECT_GT(refused, 10000);
}

class NpyOnDisk : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string folder_ = testing::TempDir() + "/npy_test";
};

TEST_F(NpyOnDisk, WriteAndRead) {
  const std::string path = folder_ + "/a.npy";
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {6}, {2, 3}, {1, 1, 6, 1}}) {
    Array array;
    array.type = Type::kInt16;
    array.shape = shape;
    array.bytes.assign(2 * array.elements(), 7);
    ASSERT_EQ(Write(array, path), absl::OkStatus());
    EXPECT_EQ(std::filesystem::file_size(path) % 64, array.bytes.size() % 64);
    const auto read = Read(path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->bytes, array.bytes);
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

// What another implementation of the format makes and reads.
TEST_F(NpyOnDisk, AgreesWithNumPy) {
  const auto python = [&](const std::string& code) {
    return std::system(("cd " + folder_ +
                        " && /usr/bin/python3 -c \"import numpy as np\n" +
                        code + "\"")
                           .c_str());
  };
  ASSERT_EQ(
      python(
          "a = np.arange(24).reshape(2, 3, 4)\n"
          "np.save('c.npy', a.astype(np.float32))\n"
          "np.save('f.npy', np.asfortranarray(a.astype(np.int8)))\n"
          "with open('v2.npy', 'wb') as f:\n"
          "  np.lib.format.write_array(f, a.astype('<i4'), version=(2, 0))\n"),
      0);
  const auto c = Read(folder_ + "/c.npy");
  const auto f = Read(folder_ + "/f.npy");
  const auto v2 = Read(folder_ + "/v2.npy");
  ASSERT_TRUE(c.ok() && f.ok() && v2.ok())
      << c.status() << f.status() << v2.status();
  EXPECT_EQ(Describe(*c), "float32 (2, 3, 4)");
  EXPECT_EQ(Describe(*v2), "int32 (2, 3, 4)");
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(f->bytes[i], i);
    float value;
    std::memcpy(&value, &c->bytes[4 * i], 4);
    EXPECT_EQ(value, static_cast<float>(i));
    EXPECT_EQ(v2->bytes[4 * i], i);
  }
  ASSERT_EQ(Write(*f, folder_ + "/again.npy"), absl::OkStatus());
  EXPECT_EQ(python("a = np.load('again.npy')\n"
                   "assert a.dtype == np.int8 and a.shape == (2, 3, 4)\n"
                   "assert (a.ravel() == np.arange(24)).all()\n"),
            0);
}

TEST_F(NpyOnDisk, ErrorsNameTheFile) {
  EXPECT_EQ(Read(folder_ + "/none.npy").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Read(folder_).status().message()),
              HasSubstr("npy_test: is a folder"));
  std::ofstream(folder_ + "/text.npy") << "1 2 3";
  EXPECT_THAT(std::string(Read(folder_ + "/text.npy").status().message()),
              HasSubstr("text.npy: is a text, not an array (.npy)"));
  EXPECT_THAT(std::string(Write(Array(), folder_ + "/no/a.npy").message()),
              HasSubstr("no/a.npy: cannot be written"));
}

}  // namespace
}  // namespace systole::npy
