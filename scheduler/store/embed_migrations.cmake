# cmake -DOUT=file.cc -DFILES="a.sql|b.sql" -P embed_migrations.cmake
# Turns the migrations into one source file, so that the program carries its own schema.
string(REPLACE "|" ";" FILES "${FILES}")
set(body "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  string(REGEX MATCH "^[0-9]+" digits "${name}")
  string(REGEX REPLACE "^0+" "" number "${digits}")
  file(READ "${file}" text)
  set(needs 0)
  if(text MATCHES "(^|\n)-- needs: ([0-9]+)\n")
    set(needs ${CMAKE_MATCH_2})
  endif()
  string(APPEND body "    {${number}, \"${name}\", R\"tidemark(${text})tidemark\", ${needs}},\n")
endforeach()
file(WRITE "${OUT}" "// Made from scheduler/store/migrations by embed_migrations.cmake.
#include \"scheduler/store/migrate.h\"

namespace tidemark {

const std::vector<Migration>& EmbeddedMigrations() {
  static const std::vector<Migration> migrations = {
${body}  };
  return migrations;
}

}  // namespace tidemark
")
