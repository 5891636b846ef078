// The stage of `jpg tour`: a temporary folder with a project, the sample session, and a HOME of its own. Nothing of the user's is
// read or written: no HOME, no git configuration, no store.
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import { type Runtime, readPackaged, startWords } from "../conversation/runtime.ts";
import { captureProgram, runProgram } from "../models/external-process.ts";

/** The name of the sample session in the project. */
export const SAMPLE_SESSION = "sample-session.jsonl";

export interface TourStage {
  /** The temporary folder, absolute. */
  readonly folder: string;
  /** The project in it. */
  readonly project: string;
  /** Runs a command in the project and gives what it printed; `jpg` is this jpg. Throws `tour_stopped`. */
  run(command: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>;
  /** Appends a request and its answer to an exported session, the way its agent does. */
  continueSession(name: string): Promise<void>;
  /** Whether a file of the project is the sample, byte for byte. */
  isSample(name: string): Promise<boolean>;
  /** Runs the user's shell in the project until it ends; `jpg` is this jpg there, too. */
  stay(): Promise<void>;
  /** Removes the folder. */
  remove(): Promise<void>;
}

/** Variables that the tour's commands see of the user's. */
const PASSED_ON = ["PATH", "LANG", "LC_ALL", "TMPDIR", "SystemRoot"];
/** Those that a shell sees, too: the terminal, the screen, and what programs the user likes. */
const FOR_A_SHELL = [
  ...["TERM", "COLORTERM", "NO_COLOR", "USER", "SHELL", "EDITOR", "VISUAL", "PAGER", "BROWSER"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"],
];

/** Makes the folder and what is in it. `columns` = those that commands may fill. */
export async function openTourStage(
  runtime: Runtime,
  { isColoured, columns }: { readonly isColoured: boolean; readonly columns: number },
): Promise<TourStage> {
  const sample = await readPackaged(join("examples", SAMPLE_SESSION));
  const folder = await realpath(await mkdtemp(join(tmpdir(), "jpg-tour-")));
  const [project, home] = [join(folder, "tidepool"), join(folder, "home")];
  for (const one of [project, home]) await mkdir(one);
  await writeFile(join(project, SAMPLE_SESSION), sample);
  // The folder goes at the end: nothing may be at work in it then.
  await writeFile(join(home, ".gitconfig"), "[maintenance]\n\tauto = false\n");
  const passed = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, runtime.env[name]]));
  const own = { HOME: home, GIT_CONFIG_NOSYSTEM: "1", TZ: "UTC" };
  const looks = { COLUMNS: String(columns), ...(isColoured ? { FORCE_COLOR: "1" } : {}) };
  const env = { ...passed(PASSED_ON), ...own, ...looks };
  return {
    folder,
    project,
    async run([program = "", ...words]) {
      const call = program === "jpg" ? [...startWords(runtime), ...words] : [program, ...words];
      const { code, ...printed } = await captureProgram(call, { cwd: project, env });
      if (code === 0) return printed;
      const message = `The tour stopped: \`${[program, ...words].join(" ")}\` ended with exit code ${code}: ${printed.stderr.trim()}`;
      throw repositoryError("tour_stopped", message);
    },
    continueSession: (name) => continueSession(join(project, name)),
    async stay() {
      const bin = join(folder, "bin");
      await mkdir(bin);
      const script = `#!/bin/sh\nexec ${startWords(runtime).map(shellWord).join(" ")} "$@"\n`;
      await writeFile(join(bin, "jpg"), script, { mode: 0o755 });
      const PATH = [bin, runtime.env["PATH"]].filter((one) => one !== undefined).join(delimiter);
      const shell = runtime.env["SHELL"] ?? "sh";
      await runProgram([shell], { cwd: project, env: { ...passed([...PASSED_ON, ...FOR_A_SHELL]), ...own, PATH } });
    },
    isSample: async (name) => (await readFile(join(project, name), "utf8")) === sample,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Appends a request and its answer to a session file, linked to its last message. */
async function continueSession(file: string): Promise<void> {
  const text = (await readFile(file, "utf8")).trimEnd();
  const lines = text.split("\n").map((line) => JSON.parse(line) as SessionLine);
  const last = lines.findLast(({ uuid, type }) => uuid !== undefined && type === "assistant");
  if (last === undefined)
    throw repositoryError("tour_stopped", "The tour stopped: the exported session has no answer.");
  const { message, uuid: parentUuid, ...base } = last;
  const request = {
    ...base,
    parentUuid,
    type: "user",
    uuid: "0c9e6f3a-5b1d-4c7e-8f20-6a4d9b3e7c11",
    timestamp: "2026-03-11T08:30:00.000Z",
    message: { role: "user", content: "Good morning. Fix the first of the two, please." },
  };
  const answer = {
    ...base,
    parentUuid: request.uuid,
    type: "assistant",
    uuid: "7d2b8a64-91c3-4e5f-a0d7-3f6c1e9b5a22",
    timestamp: "2026-03-11T08:30:09.000Z",
    message: {
      id: "msg_tour_0001",
      type: "message",
      role: "assistant",
      model: message?.model,
      content: [{ type: "text", text: "Done: the dry run guesses the delimiter as the load does." }],
    },
  };
  await appendFile(file, `${[request, answer].map((line) => JSON.stringify(line)).join("\n")}\n`);
}

/** What the tour needs of a line of a session. */
interface SessionLine {
  readonly type?: string;
  readonly uuid?: string;
  readonly message?: { readonly model?: string };
}
