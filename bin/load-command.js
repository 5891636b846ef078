// Loads the command's files, and keeps what V8 compiled of them for the next call of the same command: compiling them takes as long as
// an empty node. Whatever cannot be read or kept is compiled anew.
const fs = require("node:fs");
const Module = require("node:module");
const { basename, dirname, isAbsolute, join } = require("node:path");
const { Script } = require("node:vm");

/** As node's own `require` wraps a file. */
const HEAD = "(function (exports, require, module, __filename, __dirname) {";
/** Names that change with what stands in the file; V8 itself compares lengths only. */
const HASHED = /-[\w-]{8}\.cjs$/;
/** Smaller files are compiled as quickly as what is kept of them is read. Bytes. */
const WORTH_KEEPING = 16 * 1024;
/** An import() that the bundle leaves is not its own: of what it compiled itself, node answers it without a warning. Texts quote it so. */
const IMPORTS = /\bimport\((?!')/;
const DIGEST_BYTES = 20;
/** Files of versions that are used no more go. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** What is kept is what the first calls needed, which may have been `--help`: so often what others compiled since is added. */
const RENEWED_MS = 24 * 60 * 60 * 1000;

/** Loads `file` and what it requires; `command` is the word that was typed. Gives what the file exports. */
function loadCommand(file, command) {
  const folder = cacheFolder();
  const modules = new Map();
  const compiled = [];
  const load = (path) => {
    const known = modules.get(path);
    if (known !== undefined) return known.exports;
    const module = new Module(path);
    modules.set(path, module);
    module.require = (name) => (name.startsWith(".") ? load(join(dirname(path), name)) : require(name));
    const source = fs.readFileSync(path, "utf8");
    const kept = folder !== null && mayBeKept(path, source) ? join(folder, `${basename(path)}.${command}`) : null;
    const code = kept === null ? undefined : readKept(kept);
    // What was kept was looked through then.
    if (kept === null || (code === undefined && IMPORTS.test(source))) {
      module._compile(source, path);
      return module.exports;
    }
    const script = compile(path, source, code);
    if (script.cachedDataRejected !== false || isDue(kept)) compiled.push({ script, kept });
    script.runInThisContext()(module.exports, module.require, module, path, dirname(path));
    return module.exports;
  };
  // Only now have the functions been compiled that the command calls. What failed may have called few of them.
  process.on("exit", (code) => {
    if (code <= 1 && compiled.length > 0) keep(folder, compiled);
  });
  return load(file);
}

function mayBeKept(path, source) {
  return HASHED.test(path) && source.length >= WORTH_KEEPING;
}

function compile(filename, source, cachedData) {
  return new Script(`${HEAD}${source}\n})`, { filename, columnOffset: -HEAD.length, cachedData });
}

/** Below the user's cache folder, one for each node; null where that is not to be found: not below a folder that may be a stranger's. */
function cacheFolder() {
  const { XDG_CACHE_HOME: named = "" } = process.env;
  const folder = isAbsolute(named) ? named : join(require("node:os").homedir(), ".cache");
  return isAbsolute(folder) ? join(folder, "jpg", "code", `${process.version}-${process.arch}`) : null;
}

/** V8 believes what it is given, and may never come back from what is damaged: the digest behind it says that nothing is. */
function readKept(path) {
  let bytes;
  try {
    bytes = fs.readFileSync(path);
  } catch {
    return undefined;
  }
  const code = bytes.subarray(0, -DIGEST_BYTES);
  return digest(code).equals(bytes.subarray(code.length)) ? code : undefined;
}

/** Whether what is kept was written a while ago, or is gone. */
function isDue(path) {
  const { mtimeMs = 0 } = fs.statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > RENEWED_MS;
}

function digest(bytes) {
  return require("node:crypto").createHash("sha1").update(bytes).digest();
}

/** Keeps compiled code, each file whole or not at all. Nothing is said where it cannot: the next call tries again. */
function keep(folder, compiled) {
  try {
    // One by one: node's `recursive` never ends where the first answers that what is made in it does not exist (/proc).
    for (const up of ["../../..", "../..", "..", "."]) makeFolder(join(folder, up));
    for (const { script, kept } of compiled) write(kept, script.createCachedData());
    for (const name of fs.readdirSync(folder)) removeOld(join(folder, name));
  } catch {}
}

function makeFolder(path) {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}

function write(path, bytes) {
  const draft = `${path}.${process.pid}`;
  const file = fs.openSync(draft, "wx", 0o600);
  try {
    fs.writeFileSync(file, Buffer.concat([bytes, digest(bytes)]));
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(draft, path);
}

function removeOld(path) {
  const { mtimeMs } = fs.lstatSync(path);
  if (Date.now() - mtimeMs > KEPT_MS) fs.rmSync(path);
}

module.exports = { loadCommand };
