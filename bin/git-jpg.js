#!/usr/bin/env node
// `git jpg …` starts this file, because git runs `git-NAME` for a command that it does not have. By the name of the file jpg sees
// that git started it.
require("./jpg.js");
