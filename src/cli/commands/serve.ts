import type { Runtime } from "../../app/conversation/runtime.ts";
import { openInBrowser } from "../../app/models/external-process.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag, optionsFrom, text } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import type { Output } from "../frame/output.ts";

const LARGEST_PORT = 65_535;

export const command: CommandSpec = {
  name: "serve",
  summary: "look at conversations in a browser",
  description:
    "Serves the store as web pages, to this machine only, until Ctrl-C: the list of conversations, and for each what was said, what the model sees of it, and its compactions, which you can view, make and undo. The address that it prints lets one browser in, once. With --host, other machines can look too, and no page can change anything.",
  arguments: [{ name: "[id]", description: "conversation whose page the address names; default: the list" }],
  options: [
    { flags: "--open", description: "open it in your browser" },
    { flags: "--port <n>", description: "port to listen on; 0, the default: any free one" },
    {
      flags: "--host <address>",
      description: "address to listen on; default 127.0.0.1, which only this machine can reach",
    },
  ],
  examples: [
    { command: "jpg serve --open", explains: "in your browser" },
    { command: "jpg serve", explains: "only print the address" },
    { command: "jpg serve --port 4747", explains: "on a port of your choice" },
  ],
  run: async ({ args, options, runtime, output, json, fronts, open }) => {
    const branch = args[0] === undefined ? undefined : (await resolveWhole(await open(), args[0])).branch;
    const info = (line: string): void => output.info(forTerminal(line));
    const warn = (line: string): void => output.warn(forTerminal(line));
    await untilStopped((signal) =>
      fronts.servePages({
        runtime,
        branch,
        options: { ...optionsFrom(options), info, warn, progress: output.counts },
        port: portOf(text(options, "port")),
        host: text(options, "host") ?? "127.0.0.1",
        signal,
        onListening: ({ address, readOnly }) => {
          if (json) output.json({ address, read_only: readOnly });
          else output.data(forTerminalLine(address));
          if (readOnly)
            output.warn(
              safe`Anyone who can reach this machine and has this address can read all conversations in this store.`,
            );
          if (flag(options, "open")) void openAndSay(address, { env: runtime.env, output });
          else output.info(safe`Open it in a browser; Ctrl-C ends it.`);
        },
      }),
    );
    return 0;
  },
};

/** Opens the address in the user's browser, or says that somebody has to. */
async function openAndSay(
  address: string,
  { env, output }: { readonly env: Runtime["env"]; readonly output: Pick<Output, "info"> },
): Promise<void> {
  if (await openInBrowser(address, { env })) output.info(safe`It is open in your browser; Ctrl-C ends it.`);
  else output.info(safe`No browser could be started here: open it yourself; Ctrl-C ends it.`);
}

function portOf(word: string | undefined): number {
  if (word === undefined) return 0;
  const port = /^\d{1,5}$/.test(word) ? Number(word) : -1;
  if (port < 0 || port > LARGEST_PORT)
    throw userError("bad_port", `--port ${word} is not a port: expected a whole number from 0 to ${LARGEST_PORT}.`, {
      hints: ["Leave --port out to use any free one."],
    });
  return port;
}
