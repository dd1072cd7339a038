#include "tidemark/digest.h"

#include <openssl/sha.h>

namespace tidemark {
namespace {

void AppendLength(uint64_t value, std::string* out) {
  for (int shift = 0; shift < 64; shift += 8) {
    out->push_back(static_cast<char>((value >> shift) & 0xFF));
  }
}

std::string_view Bytes(const std::array<uint8_t, 32>& a) {
  return {reinterpret_cast<const char*>(a.data()), a.size()};
}

}  // namespace

std::array<uint8_t, 32> Sha256(std::string_view bytes) {
  std::array<uint8_t, 32> out{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out.data());
  return out;
}

void Digest::AddRow(const std::vector<std::string_view>& fields) {
  std::string row;
  for (const std::string_view field : fields) {
    AppendLength(field.size(), &row);
    row.append(field);
  }
  const std::array<uint8_t, 32> hash = Sha256(row);
  ++rows_;
  if (order_ == Order::kGiven) {
    state_ = Sha256(std::string(Bytes(state_)) + std::string(Bytes(hash)));
    return;
  }
  // A sum and not an exclusive or, under which a row that comes twice would vanish.
  unsigned carry = 0;
  for (size_t i = 0; i < state_.size(); ++i) {
    carry += state_[i] + hash[i];
    state_[i] = static_cast<uint8_t>(carry & 0xFF);
    carry >>= 8;
  }
}

std::string Digest::Hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string all(Bytes(state_));
  AppendLength(static_cast<uint64_t>(rows_), &all);
  std::string out = "sha256:";
  for (const uint8_t byte : Sha256(all)) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  }
  return out;
}

}  // namespace tidemark
