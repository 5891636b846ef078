// `jpg hooks`: what stands in agents' settings, and what was done there.
import type { SetupReport, SetupRow } from "../../app/import/hooks.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { type Cell, type Column, renderTableText } from "../frame/table.ts";

const HEADER = ["AGENT", "WHAT", "FOR", "STATE", "FILE"];
const COLUMNS: readonly Column[] = [{}, {}, {}, {}, { shrinkTo: 8 }];
const KIND = { hooks: "hooks", server: "tools" } as const;

/** Renders what stands where, one file a line. */
export function renderSetups(rows: readonly SetupRow[], { style, width }: Rendering): SafeText {
  const cells = HEADER.map((text): Cell => ({ text, paint: style.faint }));
  for (const { agent, what, project, state, path } of rows) {
    const paint = state === "installed" ? style.good : state === "absent" ? style.faint : style.caution;
    cells.push(
      agent,
      KIND[what],
      project === null ? "you" : "project",
      { text: state === "absent" ? "-" : state, paint },
      path,
    );
  }
  return renderTableText(cells, { columns: COLUMNS, width });
}

/** Renders what was done with one file. */
export function renderSetup({ agent, what, path, status }: SetupReport): SafeText {
  const thing = what === "hooks" ? "Hooks" : "Tools";
  const file = forTerminalLine(path);
  const name = forTerminalLine(agent);
  switch (status) {
    case "installed":
      return safe`${thing} of ${name} installed: ${file}`;
    case "updated":
      return safe`${thing} of ${name} brought up to date: ${file}`;
    case "present":
      return safe`${thing} of ${name} are there already: ${file}`;
    case "removed":
      return safe`${thing} of ${name} removed: ${file}`;
    case "absent":
      return safe`${thing} of ${name} are not there: ${file}`;
  }
}
