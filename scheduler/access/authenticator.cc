#include "scheduler/access/authenticator.h"

#include <utility>

#include "absl/strings/match.h"
#include "common/text.h"

namespace tidemark {
namespace {

constexpr std::string_view kBearer = "Bearer ";

absl::Status Unknown() {
  return absl::UnauthenticatedError(
      "the token is not valid: unknown, revoked or expired. An admin sees it in tidemark token "
      "list and makes another: tidemark token create");
}

absl::Status NotLoaded() {
  return absl::UnavailableError(
      "the scheduler has not read its tokens yet (it does so as soon as it reaches its database); "
      "try again");
}

}  // namespace

void Authenticator::Load(std::vector<TokenRecord> tokens, absl::Time now) {
  auto book = std::make_shared<Book>();
  book->now = now;
  book->loaded = clock_.Monotonic();
  for (TokenRecord& token : tokens) {
    book->expiry[token.token_id] = token.expires_at;
    std::string hash = token.hash;
    book->by_hash[std::move(hash)] = std::move(token);
  }
  absl::MutexLock lock(&mutex_);
  book_ = std::move(book);
}

int Authenticator::size() const {
  absl::MutexLock lock(&mutex_);
  return book_ == nullptr ? -1 : static_cast<int>(book_->by_hash.size());
}

absl::Time Authenticator::Now(const Book& book) const {
  return book.now + (clock_.Monotonic() - book.loaded);
}

absl::StatusOr<Identity> Authenticator::Authenticate(std::string_view authorization) const {
  if (insecure_) return InsecureIdentity();
  if (authorization.empty()) {
    return absl::UnauthenticatedError(
        "no token was sent: give --token-file FILE or TIDEMARK_TOKEN_FILE; an admin makes one "
        "with tidemark token create");
  }
  // The scheme's name is the same in any case (RFC 9110).
  const bool bearer = absl::StartsWithIgnoreCase(ToAbsl(authorization), ToAbsl(kBearer));
  const std::string_view token = bearer ? authorization.substr(kBearer.size()) : std::string_view();
  if (!LooksLikeToken(token)) {
    return absl::UnauthenticatedError(
        "what was sent is no token of Tidemark: the header is 'authorization: Bearer tmk_…'");
  }
  std::shared_ptr<const Book> book;
  {
    absl::MutexLock lock(&mutex_);
    book = book_;
  }
  if (book == nullptr) return NotLoaded();
  // Found by its hash: how long the search takes says something about hashes, which nobody can
  // choose, and nothing about tokens.
  const std::string hash = TokenHash(token);
  const auto it = book->by_hash.find(hash);
  if (it == book->by_hash.end() || !EqualSecrets(it->second.hash, hash)) return Unknown();
  const TokenRecord& record = it->second;
  if (record.expires_at <= Now(*book)) return Unknown();
  return Identity{true, record.role, record.token_id, record.name, record.ns, record.app};
}

absl::Status Authenticator::Check(const Identity& identity) const {
  if (insecure_ || !identity.authenticated) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  if (book_ == nullptr) return absl::OkStatus();
  const auto it = book_->expiry.find(identity.token_id);
  if (it == book_->expiry.end() || it->second <= Now(*book_)) return Unknown();
  return absl::OkStatus();
}

}  // namespace tidemark
