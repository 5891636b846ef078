#!/usr/bin/env node
// Starts jpg. From 22.1 on, node keeps what it compiles of jpg's code for the next call (docs/decisions/starting.md).
const fs = require("node:fs");
const { isAbsolute, join } = require("node:path");

const folder = codeFolder();
if (folder !== null) require("node:module").enableCompileCache?.(folder);
require("../dist/cli/main.cjs").main();

/** Below the user's cache folder; null where that cannot be made, or others could put code of theirs there. */
function codeFolder() {
  const { XDG_CACHE_HOME: named = "" } = process.env;
  const caches = isAbsolute(named) ? named : join(require("node:os").homedir(), ".cache");
  if (!isAbsolute(caches)) return null;
  const folders = [caches, join(caches, "jpg"), join(caches, "jpg", "code")];
  return folders.every(isOwnFolder) ? folders[2] : null;
}

/** Makes a folder where there is none. Whether it is the user's, and only the user may write in it. */
function isOwnFolder(path) {
  try {
    // One by one: node's `recursive` never ends in /proc.
    fs.mkdirSync(path, { mode: 0o700 });
  } catch {
    // It is there, or cannot be made.
  }
  const found = fs.statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
}
