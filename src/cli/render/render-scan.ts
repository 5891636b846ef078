// What a scan found: a line a secret, then what was scanned.
import type { ScanReport } from "../../app/share/scan.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderBytes, renderCount } from "./render-quantity.ts";

/** Renders findings, each as `FILE:LINE: github ghp_… (40 characters), 3 times`, and a last line with their number. */
export function renderScan({ files, bytes, secrets, directory }: ScanReport, { style }: Rendering): SafeText {
  if (files === 0 && directory !== undefined)
    return safe`Nothing was scanned: no agent on this machine keeps sessions for ${forTerminalLine(directory)}.`;
  const lines = secrets.map(({ path, line, rule, sample, count }) => {
    const times = count === 1 ? "" : safe`, ${count} times`;
    return safe`${forTerminalLine(path)}:${line}: ${style.heading(forTerminalLine(rule))} ${forTerminalLine(sample)}${times}`;
  });
  const found = secrets.length === 0 ? style.good(safe`no secrets`) : style.bad(renderCount(secrets.length, "secret"));
  return joinLines([...lines, safe`${found} in ${renderCount(files, "file")} (${renderBytes(bytes)})`]);
}
