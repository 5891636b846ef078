// Hints whose tool nobody calls: most likely a name with a slip in it.
import { nearestName } from "../nearest-name.ts";
import { DEFAULT_TOOL_HINTS } from "./tool-hints.ts";

/** Tools of MCP servers come and go with a project: a hint for one that is not called here is no slip. */
const SERVER_TOOL = /^mcp__./;

/**
 * Words a warning for each hint whose tool was not called and is none that jpg knows, in the order given, e.g.
 * `no tool named "Raed" was called; did you mean "Read"?`. `*` is no tool; a tool of an MCP server is only warned of when
 * the name of another called tool is near.
 */
export function warnOfUnknownTools(hinted: Iterable<string>, called: Iterable<string>): readonly string[] {
  const calledNames = new Set(called);
  const names = [...new Set(hinted)].filter(
    (name) => name !== "*" && !calledNames.has(name) && !Object.hasOwn(DEFAULT_TOOL_HINTS, name),
  );
  return names.flatMap((name) => {
    const nearest = nearestName(name, calledNames) ?? nearestName(name, Object.keys(DEFAULT_TOOL_HINTS));
    if (nearest === undefined && SERVER_TOOL.test(name)) return [];
    const suggestion = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
    return [`no tool named ${JSON.stringify(name)} was called${suggestion}`];
  });
}
