// Fingerprints of what a run left, for Context::SetFingerprint: SHA-256 over rows.
#ifndef TIDEMARK_DIGEST_H_
#define TIDEMARK_DIGEST_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// SHA-256 of `bytes`, raw.
std::array<uint8_t, 32> Sha256(std::string_view bytes);

// Adds up rows, each a list of fields; equal sets of rows give equal digests. Fields are
// length-prefixed, so {"ab", "c"} and {"a", "bc"} differ. Copyable; not thread-safe.
class Digest {
 public:
  enum class Order {
    kAny,    // rows may come in any order; repeated rows count
    kGiven,  // the order of the rows is part of the digest
  };
  explicit Digest(Order order = Order::kAny) : order_(order) {}

  void AddRow(const std::vector<std::string_view>& fields);
  void AddRow(std::initializer_list<std::string_view> fields) {
    AddRow(std::vector<std::string_view>(fields));
  }

  int64_t rows() const { return rows_; }
  // "sha256:" and 64 lower-case hexadecimal digits; depends on the number of rows too.
  std::string Hex() const;

 private:
  Order order_;
  int64_t rows_ = 0;
  // kAny: sum of the rows' hashes modulo 2^256, little-endian; kGiven: hash chain.
  std::array<uint8_t, 32> state_{};
};

}  // namespace tidemark

#endif  // TIDEMARK_DIGEST_H_
