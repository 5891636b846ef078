// A command in a real terminal: tmux types, and tells what stands on the screen.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

/** Why nothing can be run in a terminal here; null when it can. */
export const tmuxMissing: string | null = spawnSync("tmux", ["-V"]).status === 0 ? null : "tmux is not installed";

export interface Pane {
  /** Types keys by tmux's names (`Enter`, `C-c`), or a text as it is. */
  type(...keys: readonly string[]): void;
  /** Pastes as a terminal does. */
  paste(text: string): void;
  /** What stands on the screen, with what has scrolled away above it. */
  screen(): string;
  /** What stands on the screen, without what has scrolled away. */
  visible(): string;
  /** The process in which the command runs. */
  pid(): number;
  /** Gives the terminal another width. */
  resize(columns: number): void;
  /** Every byte that the command has sent to the terminal. */
  sent(): string;
  /** Waits until the screen has it; gives the screen. */
  shows(wanted: string | RegExp): Promise<string>;
  close(): void;
}

export interface PaneOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default 100. */
  readonly columns?: number;
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Runs a command in a terminal. When it ends, its exit code and the terminal's settings are shown. */
export function openPane(command: readonly string[], { cwd, env, columns = 100 }: PaneOptions): Pane {
  const folder = mkdtempSync(join(tmpdir(), "jpg-tmux-"));
  const tmux = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8" },
    });
  const settings = Object.entries({ TERM: "screen", LANG: "C.UTF-8", ...env }).map(
    ([name, value]) => `${name}=${quote(value)}`,
  );
  const script = join(folder, "run.sh");
  // Who waits for the code finds the settings, too.
  const ending = 'code=$?; stty -a; echo "left with $code"; sleep 60';
  const [sent, listening] = [join(folder, "sent"), join(folder, "listening")];
  const waiting = `until [ -e ${quote(listening)} ]; do sleep 0.02; done`;
  writeFileSync(sent, "");
  writeFileSync(
    script,
    `${waiting}\ncd ${quote(cwd)}\nenv -i ${settings.join(" ")} ${command.map(quote).join(" ")}\n${ending}\n`,
  );
  tmux("-u", "new-session", "-d", "-x", String(columns), "-y", "50", `sh ${quote(script)}`);
  tmux("pipe-pane", "-O", `cat >> ${quote(sent)}`);
  writeFileSync(listening, "");
  const screen = (): string => tmux("capture-pane", "-p", "-J", "-S", "-2000").trimEnd();
  return {
    type: (...keys) => void tmux("send-keys", ...keys),
    paste: (text) => {
      tmux("set-buffer", "--", text);
      tmux("paste-buffer", "-p");
    },
    screen,
    visible: () => tmux("capture-pane", "-p", "-J").trimEnd(),
    pid: () => Number(tmux("display-message", "-p", "#{pane_pid}")),
    resize: (width) => void tmux("resize-window", "-x", String(width)),
    sent: () => readFileSync(sent, "utf8"),
    async shows(wanted) {
      let shown = "";
      const look = expect.poll(() => (shown = screen()), { interval: 50 });
      await (typeof wanted === "string" ? look.toContain(wanted) : look.toMatch(wanted));
      return shown;
    },
    close: () => {
      tmux("kill-server");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
