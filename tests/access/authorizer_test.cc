// The table of rules against the services' descriptors, and what it decides.
#include "scheduler/access/authorizer.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "gmock/gmock.h"
#include "google/protobuf/compiler/importer.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

Identity Somebody(Role role, const std::string& ns = "") {
  return {true, role, "0123456789ab", "ann", ns, role == Role::kExecutor ? "recon" : ""};
}

class ProtoErrors : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    ADD_FAILURE() << file << ":" << line << ": " << message;
  }
};

// The folder of the contracts, read as it is: what is not compiled in yet counts, too.
class Contracts {
 public:
  Contracts() {
    source_tree_.MapPath("", TIDEMARK_PROTO_DIR);
    source_tree_.MapPath("", "/usr/include");
    for (const auto& entry :
         std::filesystem::directory_iterator(TIDEMARK_PROTO_DIR "/tidemark/v1")) {
      if (entry.path().extension() != ".proto") continue;
      const FileDescriptor* file =
          importer_.Import("tidemark/v1/" + entry.path().filename().string());
      if (file == nullptr) continue;
      for (int s = 0; s < file->service_count(); ++s) AddMethods(*file->service(s));
    }
  }
  const std::map<std::string, const MethodDescriptor*>& methods() const { return methods_; }

 private:
  void AddMethods(const google::protobuf::ServiceDescriptor& service) {
    for (int m = 0; m < service.method_count(); ++m) {
      methods_[service.name() + "/" + service.method(m)->name()] = service.method(m);
    }
  }

  google::protobuf::compiler::DiskSourceTree source_tree_;
  ProtoErrors errors_;
  google::protobuf::compiler::Importer importer_{&source_tree_, &errors_};
  std::map<std::string, const MethodDescriptor*> methods_;
};

const std::map<std::string, const MethodDescriptor*>& Methods() {
  static const Contracts contracts;
  return contracts.methods();
}

TEST(AccessRulesTest, EveryMethodOfEveryServiceHasExactlyOneRule) {
  const auto& methods = Methods();
  ASSERT_GT(methods.size(), 40u);
  std::set<std::string> seen;
  for (const AccessRule& rule : AccessRules()) {
    const std::string name(rule.method);
    EXPECT_TRUE(seen.insert(name).second) << name << " has two rules";
    EXPECT_EQ(methods.count(name), 1u) << name << " is no method of any service";
    EXPECT_NE(rule.least, Role::kNone) << name;
  }
  for (const auto& [name, method] : methods) {
    EXPECT_EQ(seen.count(name), 1u)
        << name << " has no rule: add a row to scheduler/access/access_rules.cc";
  }
}

TEST(AccessRulesTest, TheFieldThatNamesTheObjectExists) {
  const auto& methods = Methods();
  for (const AccessRule& rule : AccessRules()) {
    const auto it = methods.find(std::string(rule.method));
    if (it == methods.end()) continue;
    if (rule.field.empty()) continue;
    EXPECT_NE(it->second->input_type()->FindFieldByName(std::string(rule.field)), nullptr)
        << rule.method << " " << rule.field;
  }
}

// What changes something says who ordered it, and takes an operator.
TEST(AccessRulesTest, WhatNamesAnActorIsAChangeAndTakesAnOperator) {
  for (const auto& [name, method] : Methods()) {
    const AccessRule* rule = FindAccessRule(name);
    if (rule == nullptr) continue;
    const bool has_actor = method->input_type()->FindFieldByName("actor") != nullptr;
    const std::string verb = name.substr(name.find('/') + 1);
    const bool looks = verb.rfind("List", 0) == 0 || verb.rfind("Get", 0) == 0;
    if (has_actor && !looks) {
      EXPECT_TRUE(rule->changes) << name;
    }
    if (rule->changes) {
      EXPECT_GE(rule->least, Role::kOperator) << name;
      EXPECT_TRUE(has_actor) << name << " cannot say who ordered it";
    }
  }
}

TEST(AuthorizerTest, EachRoleMayWhatTheTableSays) {
  for (const AccessRule& rule : AccessRules()) {
    const bool stream = rule.least == Role::kExecutor;
    for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin, Role::kExecutor}) {
      const absl::Status status = Authorize(Somebody(role), rule.method);
      const bool may =
          stream ? role == Role::kExecutor : role != Role::kExecutor && role >= rule.least;
      EXPECT_EQ(status.ok(), may) << rule.method << " " << Name(role) << " " << Message(status);
      if (!may) {
        EXPECT_TRUE(absl::IsPermissionDenied(status)) << rule.method;
      }
    }
    EXPECT_TRUE(Authorize(InsecureIdentity(), rule.method).ok()) << rule.method;
    EXPECT_FALSE(Authorize(Somebody(Role::kNone), rule.method).ok()) << rule.method;
  }
}

TEST(AuthorizerTest, WhatConcernsAllNamespacesTakesATokenForAll) {
  EXPECT_TRUE(Authorize(Somebody(Role::kAdmin), "OperatorService/ImportCalendar").ok());
  const absl::Status status =
      Authorize(Somebody(Role::kAdmin, "pay"), "OperatorService/ImportCalendar");
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(Message(status), testing::HasSubstr("concerns all namespaces"));
}

TEST(AuthorizerTest, WhatHasNoRuleIsRefusedToEverybody) {
  for (const char* method : {"OperatorService/Nothing", "", "ApplyJobs", "/", "x/y/z"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Authorize(Somebody(Role::kAdmin), method))) << method;
    EXPECT_TRUE(absl::IsPermissionDenied(Authorize(InsecureIdentity(), method))) << method;
  }
}

TEST(AuthorizerTest, S03AnExecutorsTokenIsBoundToItsApp) {
  const Identity recon = Somebody(Role::kExecutor, "default");
  EXPECT_TRUE(AuthorizeExecutor(recon, "recon", "default").ok());
  for (const auto& [app, ns] :
       std::vector<std::pair<std::string, std::string>>{{"ledger", "default"},
                                                        {"recon", "pay"},
                                                        {"", "default"},
                                                        {"recon", ""},
                                                        {"recon ", "default"},
                                                        {"RECON", "default"}}) {
    EXPECT_TRUE(absl::IsPermissionDenied(AuthorizeExecutor(recon, app, ns))) << app << " " << ns;
  }
  EXPECT_TRUE(
      absl::IsPermissionDenied(AuthorizeExecutor(Somebody(Role::kAdmin), "recon", "default")));
  EXPECT_TRUE(AuthorizeExecutor(InsecureIdentity(), "anything", "default").ok());
}

TEST(AuthorizerTest, ARefusalNamesTheRoleAndHowToGetIt) {
  EXPECT_EQ(Message(Authorize(Somebody(Role::kViewer), "OperatorService/PauseJob")),
            "the token of 'ann' (0123456789ab) has the role viewer; PauseJob takes operator. An "
            "admin makes one: tidemark token create --role operator");
}

}  // namespace
}  // namespace tidemark
