#!/usr/bin/env node
// CommonJS, and a version that needs no module of ours and no stream: `process.stdout` costs an eighth of what an empty node costs.
const [first = ""] = process.argv.slice(2);
if ((first !== "--version" && first !== "-V") || !printVersion()) {
  const { join } = require("node:path");
  const { loadCommand } = require("./load-command.js");
  loadCommand(join(__dirname, "../dist/cli/main.cjs"), /^[a-z]+(-[a-z]+)*$/.test(first) ? first : "start").main();
}

/** Whether the version is printed; where it cannot be, main.cjs tries again and says why. */
function printVersion() {
  try {
    require("node:fs").writeSync(1, `${require("../package.json").version}\n`);
    return true;
  } catch {
    return false;
  }
}
