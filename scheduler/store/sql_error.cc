#include "scheduler/store/sql_error.h"

#include "absl/strings/cord.h"
#include "common/text.h"
#include "scheduler/store/database.h"

namespace tidemark {
namespace {

constexpr std::string_view kStatePayload = "tidemark/sqlstate";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

absl::StatusCode CodeOf(std::string_view state) {
  if (EndsSession(state)) return absl::StatusCode::kUnavailable;
  if (StartsWith(state, "40") || state == "55P03") return absl::StatusCode::kAborted;
  if (state == "57014") return absl::StatusCode::kDeadlineExceeded;
  if (state == "23505") return absl::StatusCode::kAlreadyExists;
  if (StartsWith(state, "22") || StartsWith(state, "23")) return absl::StatusCode::kInvalidArgument;
  if (state == "42P01" || state == "42883" || state == "3F000" || state == "42703" ||
      state == "3D000" || state == "25006") {
    return absl::StatusCode::kFailedPrecondition;
  }
  if (state == "28P01" || state == "28000") return absl::StatusCode::kUnauthenticated;
  if (state == "42501") return absl::StatusCode::kPermissionDenied;
  if (StartsWith(state, "53")) return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kInternal;
}

std::string Mend(std::string_view state) {
  if (state == "42P01" || state == "42883" || state == "3F000" || state == "42703") {
    return " (the scheduler's tables are missing or old in this schema: start tidemark-scheduler "
           "once with a role that may create them, or set the schema's name)";
  }
  if (state == "25006") {
    return " (the server accepts reads only, so it is a standby: point the database URL at the "
           "primary, or list all hosts in it)";
  }
  if (state == "42501") {
    return " (the database role lacks a right: GRANT it, or use the role that owns the schema)";
  }
  return "";
}

}  // namespace

bool EndsSession(std::string_view state) {
  return StartsWith(state, "08") || state == "57P01" || state == "57P02" || state == "57P03" ||
         state == "57P04" || state == "57P05" || state == "25P03";
}

bool SurelyRolledBack(std::string_view state) {
  return !state.empty() && state != "40003" && !EndsSession(state) && !StartsWith(state, "57");
}

absl::Status FromSqlState(std::string_view sqlstate, const std::string& message) {
  absl::Status status(CodeOf(sqlstate), message + Mend(sqlstate));
  status.SetPayload(ToAbsl(kStatePayload), absl::Cord(ToAbsl(sqlstate)));
  return status;
}

absl::Status InDoubt(const std::string& message) {
  return absl::UnknownError("the connection broke while committing: " + message);
}

absl::Status FromConnectFailure(const std::string& where, const std::string& message) {
  const std::string text = "cannot connect to " + where + ": " + message;
  if (Contains(message, "password authentication failed") ||
      Contains(message, "no password supplied")) {
    return absl::UnauthenticatedError(
        text + " (check user and password of the database URL, or of the password file)");
  }
  if (Contains(message, "no pg_hba.conf entry")) {
    return absl::UnauthenticatedError(text + " (the server's pg_hba.conf does not let us in)");
  }
  if (Contains(message, "database") && Contains(message, "does not exist")) {
    return absl::FailedPreconditionError(
        text + " (create it: CREATE DATABASE …; the scheduler makes its tables itself)");
  }
  if (Contains(message, "role") && Contains(message, "does not exist")) {
    return absl::UnauthenticatedError(text + " (create the role: CREATE ROLE … LOGIN)");
  }
  return absl::UnavailableError(text);
}

std::string SqlState(const absl::Status& status) {
  const auto payload = status.GetPayload(ToAbsl(kStatePayload));
  return payload.has_value() ? std::string(*payload) : std::string();
}

bool IsInDoubt(const absl::Status& status) { return status.code() == absl::StatusCode::kUnknown; }

bool IsDataError(const absl::Status& status) {
  const std::string state = SqlState(status);
  return StartsWith(state, "22") || StartsWith(state, "23");
}

}  // namespace tidemark
