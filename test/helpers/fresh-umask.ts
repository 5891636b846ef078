// Test files share a process: each begins under the umask of the first, whatever the commands of the one before it set.
const FIRST = Symbol.for("jpg.test.umask");
const shared = globalThis as { [FIRST]?: number };

shared[FIRST] ??= process.umask();
process.umask(shared[FIRST]);
