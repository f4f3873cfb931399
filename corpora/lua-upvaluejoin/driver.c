/* Runs a Lua program: exit 0 = it ran, 1 = run-time error, 2 = it does not load. A crash is left to the system. */

#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static int with_traceback(lua_State *state) {
    luaL_traceback(state, state, lua_tostring(state, 1), 1);
    return 1;
}

static int failed(lua_State *state, int code) {
    const char *message = lua_tostring(state, -1);
    fprintf(stderr, "lua: %s\n", message != NULL ? message : "error without a message");
    lua_close(state);
    return code;
}

int main(int count, char **arguments) {
    lua_State *state;
    if (count != 2) {
        fprintf(stderr, "usage: lua FILE\n");
        return 2;
    }
    state = luaL_newstate();
    if (state == NULL) {
        fprintf(stderr, "lua: not enough memory\n");
        return 2;
    }
    luaL_openlibs(state);
    lua_pushcfunction(state, with_traceback);
    if (luaL_loadfile(state, arguments[1]) != LUA_OK) {
        return failed(state, 2);
    }
    if (lua_pcall(state, 0, 0, 1) != LUA_OK) {
        return failed(state, 1);
    }
    lua_close(state);
    return 0;
}
