#!/usr/bin/env node
// CommonJS, and a version that needs no module of ours and no stream: node's module loader and `process.stdout` together
// cost an eighth of what an empty node costs.
const [first] = process.argv.slice(2);
if ((first !== "--version" && first !== "-V") || !printVersion()) {
  keepCompiledCode();
  import("../dist/cli/main.js").then(({ main }) => main());
}

/** Whether the version is printed; where it cannot be, main.js tries again and says why. */
function printVersion() {
  try {
    require("node:fs").writeSync(1, `${require("../package.json").version}\n`);
    return true;
  } catch {
    return false;
  }
}

/** From 22.8 on, node can keep what it compiled of our files: in the user's cache folder, as everything that can be had again. */
function keepCompiledCode() {
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache === undefined) return;
  const { isAbsolute, join } = require("node:path");
  const { XDG_CACHE_HOME: named = "" } = process.env;
  const folder = join(isAbsolute(named) ? named : join(require("node:os").homedir(), ".cache"), "jpg", "code");
  // Not below the folder that jpg happens to run in, which may be a stranger's.
  if (isAbsolute(folder)) enableCompileCache(folder);
}
