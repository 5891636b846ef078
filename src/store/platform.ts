// What a store asks or sets by platform. The platform is a parameter: all of it is tested everywhere.
import type { Environment } from "./environment.ts";
import { systemProgram } from "./program-call.ts";

/** A program and its arguments. */
export type SystemQuestion = readonly [program: string, args: readonly string[]];

/** The question when a process started, for systems without /proc: else a pid that the system has reused would count as its process. */
export function startQuestion(pid: number, platform: string, env: Environment): SystemQuestion {
  if (platform !== "win32") return ["/bin/ps", ["-o", "lstart=", "-p", String(pid)]];
  const powershell = systemProgram("WindowsPowerShell\\v1.0\\powershell.exe", env);
  const command = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`;
  return [powershell, ["-NoProfile", "-NonInteractive", "-Command", command]];
}

/** What git itself finds out of a new repository's file system; here by what the system's own one is. */
export function fileSystemSettings(platform: string): readonly (readonly [string, string])[] {
  const settings: [string, string][] = [["core.filemode", String(platform !== "win32")]];
  if (platform === "win32" || platform === "darwin") settings.push(["core.ignorecase", "true"]);
  // Git then stores names as they are typed, not in the parts that macOS lists them in.
  if (platform === "darwin") settings.push(["core.precomposeunicode", "true"]);
  return settings;
}
