// Text that people will look at, whoever wrote it.
#ifndef TIDEMARK_COMMON_SAFE_TEXT_H_
#define TIDEMARK_COMMON_SAFE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace tidemark {

// Text that cannot move the cursor, change colours or turn the line around: control characters and
// invisible ones become \n, \xNN, \uNNNN, tabs blanks.
std::string SafeText(const std::string& text);

// A name as one word of a shell's command line: quoted when it must be.
std::string ShellWord(const std::string& name);

// Decodes the character at `i` of valid UTF-8 and moves past it.
uint32_t TakeCharacter(const std::string& text, size_t* i);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_SAFE_TEXT_H_
