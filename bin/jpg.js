#!/usr/bin/env node
// CommonJS, and a version that needs no module of ours and no stream: node's module loader and `process.stdout` together
// cost an eighth of what an empty node costs.
const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") {
  require("node:fs").writeSync(1, `${require("../package.json").version}\n`);
} else {
  import("../dist/cli/main.js").then(({ main }) => main());
}
