#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/training_files.h"
#include "training/sources/npz.h"

namespace bench::training {
namespace {

std::string npy_refusal(const std::string& bytes) {
  try {
    read_npy(as_bytes(bytes), "a.npy");
    return "accepted";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    CHECK_FALSE(error.hint().empty());
    return error.what();
  }
}

std::string npz_refusal(const std::string& bytes, const std::string& name = "x") {
  try {
    NpzFile(as_bytes(bytes), "a.npz").array(name);
    return "accepted";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
}

TEST_CASE("arrays of every type are read with their shape and values") {
  const auto numbers = [](const std::string& bytes) {
    const NpyArray array = read_npy(as_bytes(bytes), "a.npy");
    std::vector<double> values;
    for (std::uint64_t i = 0; i < array.elements(); ++i) values.push_back(array.number(i));
    return values;
  };
  CHECK(numbers(npy("<f4", "(2, 2)", raw<float>({1.5f, -2, 3, 4}))) ==
        std::vector<double>{1.5, -2, 3, 4});
  CHECK(numbers(npy("<f8", "(2,)", raw<double>({0.1, 1e300}))) == std::vector<double>{0.1, 1e300});
  CHECK(numbers(npy("|i1", "(2,)", raw<std::int8_t>({-1, 127}))) == std::vector<double>{-1, 127});
  CHECK(numbers(npy("<i2", "(2,)", raw<std::int16_t>({-300, 7}))) == std::vector<double>{-300, 7});
  CHECK(numbers(npy("<i4", "(1, 2)", raw<std::int32_t>({-70000, 7}))) ==
        std::vector<double>{-70000, 7});
  CHECK(numbers(npy("<i8", "(1,)", raw<std::int64_t>({-5000000000}))) ==
        std::vector<double>{-5000000000});
  CHECK(numbers(npy("|u1", "(2,)", raw<std::uint8_t>({255, 1}))) == std::vector<double>{255, 1});
  CHECK(numbers(npy("<u4", "(1,)", raw<std::uint32_t>({4000000000}))) ==
        std::vector<double>{4000000000});
  CHECK(numbers(npy("|b1", "(3,)", std::string("\x01\x00\x01", 3))) ==
        std::vector<double>{1, 0, 1});
  CHECK(numbers(npy("<f4", "()", raw<float>({7}))) == std::vector<double>{7});
  CHECK(numbers(npy("<f4", "(0, 5)", "")).empty());
  const std::string matrix = npy("<i4", "(2, 3)", raw<std::int32_t>({1, 2, 3, 4, 5, 6}));
  CHECK(read_npy(as_bytes(matrix), "a.npy").shape == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("damaged or unsupported arrays are refused with the value seen") {
  const std::string data = raw<float>({1, 2, 3, 4});
  const std::string good = npy("<f4", "(2, 2)", data);
  CHECK(npy_refusal(good) == "accepted");
  CHECK(npy_refusal("hello, world") == "a.npy: not a NumPy array: wrong magic at offset 0");
  CHECK(npy_refusal(good.substr(0, good.size() - 1)) ==
        "a.npy: the shape requires 16 bytes of data, but the file has 15");
  CHECK(npy_refusal(npy("<f4", "(99999999999, 99999999999)", data)) ==
        "a.npy: the shape requires too many bytes of data, but the file has 16");
  CHECK(npy_refusal(npy(">f4", "(2, 2)", data)) == "a.npy: unsupported element type '>f4'");
  CHECK(npy_refusal(npy("|O8", "(2, 2)", data)) == "a.npy: unsupported element type '|O8'");
  CHECK(npy_refusal(npy("<f4", "(2, x)", data)).starts_with("a.npy: invalid shape (2, x)"));
  CHECK(npy_refusal(npy("<f4", "(-2, 2)", data)).starts_with("a.npy: invalid shape (-2, 2)"));
  CHECK(npy_refusal(good.substr(0, 40)) ==
        "a.npy: a header of 118 bytes exceeds the 40 bytes of the file");
  std::string other = good;
  other[6] = 9;
  CHECK(npy_refusal(other) == "a.npy: unsupported format version 9 at offset 6");
  other = good;
  other.replace(other.find("False"), 5, "True ");
  CHECK(npy_refusal(other) == "a.npy: Fortran order is not supported (fortran_order)");
  other = good;
  other.replace(other.find("shape"), 5, "shope");
  CHECK(npy_refusal(other).starts_with("a.npy: the header has no 'shape': {'descr'"));
}

TEST_CASE("npz arrays are read stored, deflated and in zip64") {
  const std::string a = npy("<i4", "(3,)", raw<std::int32_t>({1, 2, 3}));
  const std::string b = npy("<f4", "(5000,)", raw(std::vector<float>(5000, 2.5f)));
  for (const bool deflate : {false, true})
    for (const bool zip64 : {false, true}) {
      const std::string bytes = npz({{"a", a, deflate}, {"b", b, deflate}}, zip64);
      NpzFile file(as_bytes(bytes), "a.npz");
      CHECK(file.names() == std::vector<std::string>{"a", "b"});
      CHECK(file.has("b"));
      const NpyArray first = file.array("a"), second = file.array("b");
      CHECK(first.integer(2) == 3);
      CHECK(second.elements() == 5000);
      CHECK(second.number(4999) == 2.5);
    }
}

TEST_CASE("a damaged npz is refused with the value seen") {
  const std::string array = npy("<i4", "(300,)", raw(std::vector<std::int32_t>(300, 7)));
  for (const bool deflate : {false, true}) {
    const std::string good = npz({{"x", array, deflate}});
    CHECK(npz_refusal(good) == "accepted");
    CHECK(npz_refusal(good, "y") == "a.npz: array 'y' not found");
    CHECK(npz_refusal(good.substr(0, good.size() - 1)) ==
          "a.npz: not a zip archive: no central directory at the end");
    CHECK(npz_refusal(good.substr(4)).starts_with("a.npz: no directory entry at offset"));
    std::string bad = good;
    bad[120] = static_cast<char>(bad[120] ^ 1);
    CHECK(npz_refusal(bad) != "accepted");  // by its checksum, or it does not unpack
  }
  std::string bad = npz({{"x", array, false}});
  const auto entry = bad.find("PK\x01\x02");
  bad[entry + 10] = 99;
  CHECK(npz_refusal(bad) == "a.npz: array 'x': unsupported compression method 99, flags 0x0");
  bad[entry + 10] = 8;
  bad.replace(entry + 24, 4, "\xff\xff\xff\x7f");  // 2 GB of a hundred bytes
  CHECK(npz_refusal(bad).find("cannot decompress to 2147483647") != std::string::npos);
  bad.replace(entry + 42, 4, "\xff\xff\xff\x7f");
  CHECK(npz_refusal(bad).find("exceed the file size of") != std::string::npos);
  CHECK(npz_refusal("PK") == "a.npz: too short for a zip archive");
}

}  // namespace
}  // namespace bench::training
