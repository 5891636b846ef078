// What an integrity check found: two lines a finding, what is wrong and what to do, then what was checked.
import type { FsckFinding, FsckReport } from "../../app/integrity/fsck.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderCount } from "./render-quantity.ts";

/** Renders findings, each as `E turn_missing BRANCH PATH: …` with its hint below, and a last line with their number. */
export function renderFsck(report: FsckReport, { style }: Rendering): string {
  const lines = report.findings.flatMap((finding) => {
    const mark = finding.severity === "error" ? style.bad("E") : style.caution("W");
    return [
      `${mark} ${style.heading(finding.code)}${placeOf(finding)}: ${forTerminalLine(finding.message)}`,
      style.faint(`  ${forTerminalLine(finding.hint)}`),
    ];
  });
  const where = `${renderCount(report.branches, "branch", "branches")}, ${renderCount(report.turns, "turn")}`;
  return [...lines, `${style[report.ok ? "good" : "bad"](total(report))} in ${where}`].join("\n");
}

function placeOf({ branch, path, line }: FsckFinding): string {
  const place = [...(branch === null ? [] : [branch]), ...(path === undefined ? [] : [path])].join(" ");
  return place === "" ? "" : ` ${forTerminalLine(place)}${line === undefined ? "" : `:${line}`}`;
}

function total({ findings }: FsckReport): string {
  if (findings.length === 0) return "nothing wrong";
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = [renderCount(errors, "error"), renderCount(findings.length - errors, "warning")];
  return counts.filter((text) => !text.startsWith("0 ")).join(", ");
}
