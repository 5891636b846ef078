// What an integrity check found: two lines a finding, what is wrong and what to do, then what was checked.
import type { FsckFinding, FsckReport } from "../../app/integrity/fsck.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderCount, renderSeverities } from "./render-quantity.ts";

/** Renders findings, each as `E turn_missing BRANCH PATH: …` with its hint below, and a last line with their number. */
export function renderFsck(report: FsckReport, { style }: Rendering): SafeText {
  const lines = report.findings.flatMap((finding) => {
    const mark = finding.severity === "error" ? style.bad(safe`E`) : style.caution(safe`W`);
    return [
      safe`${mark} ${style.heading(forTerminalLine(finding.code))}${placeOf(finding)}: ${forTerminalLine(finding.message)}`,
      style.faint(safe`  ${forTerminalLine(finding.hint)}`),
    ];
  });
  const where = safe`${renderCount(report.branches, "branch", "branches")}, ${renderCount(report.turns, "turn")}`;
  return joinLines([...lines, safe`${style[report.ok ? "good" : "bad"](total(report))} in ${where}`]);
}

function placeOf({ branch, path, line }: FsckFinding): SafeText {
  const place = [...(branch === null ? [] : [branch]), ...(path === undefined ? [] : [path])].join(" ");
  return place === "" ? "" : safe` ${forTerminalLine(place)}${line === undefined ? "" : safe`:${line}`}`;
}

function total({ findings }: FsckReport): SafeText {
  return findings.length === 0 ? safe`nothing wrong` : renderSeverities(findings);
}
