// Renders what `jpg share` and the import of a shared file report.
import type { BundleRow } from "../../app/share/bundle.ts";
import { describeLeftOut, type MaskedPageReport } from "../../app/share/masked-page.ts";
import type { ShareReport } from "../../app/share/share.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { renderTable } from "../frame/table.ts";
import type { Rendering } from "../frame/terminal.ts";
import { renderBytes, renderCount } from "./quantity.ts";
import { renderUpdateNotes } from "./sharing.ts";

/** Renders what a file holds and what it leaves out; `path` null = standard output. */
export function renderSharedFile(
  { branches, turns, full, left_out: left, secrets }: ShareReport,
  { path, bytes }: { readonly path: string | null; readonly bytes: number },
): SafeText {
  const file = path === null ? safe`standard output` : forTerminalLine(path);
  const name = forTerminalLine(branches[0] ?? "");
  const out = [
    ...(left.turns === 0 ? [] : [safe`${renderCount(left.turns, "hidden turn")}`]),
    ...(left.sources === 0 ? [] : [safe`${renderCount(left.sources, "source file")}`]),
    ...(left.comments === 0 ? [] : [safe`${renderCount(left.comments, "comment")}`]),
  ];
  return joinLines([
    full
      ? safe`Wrote all of ${name}, ${renderCount(branches.length, "fork")}, ${renderBytes(bytes)}, to ${file}`
      : safe`Wrote ${name}, ${renderCount(turns, "turn")}, ${renderBytes(bytes)}, to ${file}`,
    ...(out.length === 0 ? [] : [safe`Left out: ${joinSafe(out, ", ")}`]),
    ...(secrets.length === 0
      ? []
      : [
          safe`Masked: ${joinSafe(
            secrets.map(({ mask, sample }) => safe`${forTerminalLine(mask)} for ${forTerminalLine(sample)}`),
            ", ",
          )}`,
        ]),
  ]);
}

/** Renders what a page holds and what it leaves out; `path` null = standard output. */
export function renderSharedPage(
  report: MaskedPageReport,
  { path, bytes }: { readonly path: string | null; readonly bytes: number },
): SafeText {
  const file = path === null ? safe`standard output` : forTerminalLine(path);
  const what = report.scope === "view" ? safe`what the model sees` : safe`everything that was said`;
  return joinLines([
    safe`Wrote a page of ${what}, ${renderCount(report.turns, "turn")}, ${renderBytes(bytes)}, to ${file}`,
    ...describeLeftOut(report).map(forTerminalLine),
  ]);
}

/** Renders what happened to the branches of an imported file. */
export function renderBundle(rows: readonly BundleRow[], { style, width }: Rendering): SafeText {
  const cells = rows.map(({ status, branch, turns }) => [
    status === "left_out" ? "left out" : status,
    branch,
    turns === 0 ? "" : renderCount(turns, "turn"),
  ]);
  const columns = [{ paint: style.heading }, { shrinkTo: 16, paint: style.id }, { shrinkTo: 8 }];
  return joinLines([...renderTable(cells, { columns, width }), ...renderUpdateNotes(rows, style)]);
}
