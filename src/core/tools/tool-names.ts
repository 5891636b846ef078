// Names for the tools of MCP servers: such as every provider takes, each once, and the same for the same servers and tools.

/** A tool as its server calls it. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/** Longest name that every provider takes, characters. */
export const MAX_TOOL_NAME = 64;

/**
 * Names tools, in the order given: by their own name, by `server__tool` where two would be called alike or the name is
 * taken. Characters that some provider refuses become `_`; names are at most 64 characters.
 */
export function nameTools(tools: readonly ServerTool[], taken: Iterable<string>): readonly string[] {
  const own = tools.map(({ tool }) => cleanName(tool));
  const counts = new Map<string, number>();
  for (const name of own) counts.set(name, (counts.get(name) ?? 0) + 1);
  const reserved = new Set(taken);
  const isAlone = (name: string): boolean => counts.get(name) === 1 && !reserved.has(name);
  const used = new Set([...reserved, ...own.filter(isAlone)]);
  return tools.map(({ server, tool }, index) => {
    const name = own[index] ?? "";
    if (isAlone(name)) return name;
    const free = freeName(cleanName(`${server}__${tool}`), used);
    used.add(free);
    return free;
  });
}

function cleanName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_TOOL_NAME);
  // Some providers want a letter first.
  return /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`.slice(0, MAX_TOOL_NAME);
}

function freeName(name: string, used: ReadonlySet<string>): string {
  for (let number = 2, free = name; ; number++) {
    if (!used.has(free)) return free;
    const suffix = `_${number}`;
    free = name.slice(0, MAX_TOOL_NAME - suffix.length) + suffix;
  }
}
