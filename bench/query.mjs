// What jpg adds to a call of a model: from the provider's first byte to the first character on the screen, and the whole of a
// query over histories of 4 MB against the bare call of the provider's library with the same request.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { interleave, median } from "./measure.mjs";
import { startModelServer } from "./model-server.mjs";
import { createRow, formatNumber, ms, skipWithoutCorpus } from "./row.mjs";
import { bundle } from "./sandbox.mjs";
import { largest, listSessions, writeMadeSession } from "./sessions.mjs";

const PIECES = ["Four ", "metres ", "at ", "the ", "pier."];

const PROVIDERS = {
  anthropic: {
    model: "anthropic/claude-haiku",
    config: (url) => `[providers.anthropic]\nbase_url = "${url}"\napi_key = "bench"\n`,
    bare: (url) => `import Anthropic from "@anthropic-ai/sdk";
import { readFileSync } from "node:fs";
const client = new Anthropic({ apiKey: "bench", baseURL: "${url}" });
const stream = await client.messages.create(JSON.parse(readFileSync(process.argv[2], "utf8")));
for await (const part of stream) if (part.type === "content_block_delta") process.stdout.write(part.delta.text);`,
  },
  openai: {
    model: "bench/model-1",
    config: (url) => `[providers.bench]\nbase_url = "${url}/v1"\napi_key = "bench"\n`,
    bare: (url) => `import OpenAI from "openai";
import { readFileSync } from "node:fs";
const client = new OpenAI({ apiKey: "bench", baseURL: "${url}/v1" });
const stream = await client.chat.completions.create(JSON.parse(readFileSync(process.argv[2], "utf8")));
for await (const part of stream) process.stdout.write(part.choices[0]?.delta?.content ?? "");`,
  },
};

/** Measures queries through both libraries on a real session, and one on a history of which nothing is compacted. */
export async function benchQuery(sandbox, { rounds, madeTurns, corpus }) {
  const made = sandbox.newPath("made.jsonl");
  writeMadeSession(made, madeTurns);
  const whole = await importSession(sandbox, made);
  const rows = await benchProvider(sandbox, { name: "anthropic", id: "whole", template: whole, rounds });
  const sessions = listSessions(corpus);
  if (sessions === null) return [...rows, skipWithoutCorpus("query", "jpg query over a real history of 4 MB", corpus)];
  const template = await importSession(sandbox, largest(sessions));
  for (const name of Object.keys(PROVIDERS)) {
    rows.push(...(await benchProvider(sandbox, { name, id: name, template, rounds })));
  }
  return rows;
}

async function importSession(sandbox, file) {
  const store = sandbox.newPath("template");
  await sandbox.jpg(["import", "--store", store, file, "--quiet"]);
  return store;
}

async function benchProvider(sandbox, { name, id, template, rounds }) {
  const provider = PROVIDERS[name];
  const server = await startModelServer(() => PIECES);
  const folder = sandbox.newPath(`query-${id}`);
  mkdirSync(join(folder, "jpg"), { recursive: true });
  writeFileSync(
    join(folder, "jpg/config.toml"),
    `[conversation]\nmodel = "${provider.model}"\n${provider.config(server.url)}`,
  );
  const env = { ...sandbox.env, XDG_CONFIG_HOME: folder };
  const delays = [];
  const waits = [];
  try {
    const query = async () => {
      const store = sandbox.newPath("copy");
      cpSync(template, store, { recursive: true });
      const started = performance.now();
      const shownAt = await firstOutput(sandbox.bin, ["query", "--store", store, "How high is it?"], {
        env,
        cwd: folder,
      });
      const took = performance.now() - started;
      delays.push(shownAt - server.seen.firstByteAt);
      waits.push(server.seen.firstByteAt - started);
      rmSync(store, { recursive: true, force: true });
      return took;
    };
    await query();
    const body = join(folder, "body.json");
    writeFileSync(body, server.seen.body);
    const script = join(folder, "bare.mjs");
    await bundle(provider.bare(server.url), script, { minify: true });
    let bareWait = [];
    const over = [];
    let last = 0;
    const times = await interleave(rounds, {
      node: async () => (await sandbox.run(process.execPath, ["-e", "0"])).ms,
      query: async () => {
        last = await query();
        return last;
      },
      bare: async () => {
        const started = performance.now();
        await firstOutput(script, [body], { env, cwd: folder });
        bareWait.push(server.seen.firstByteAt - started);
        const took = performance.now() - started;
        over.push(last - took);
        return took;
      },
    });
    bareWait = bareWait.slice(1);
    const size = `${formatNumber(server.seen.body.length / 2 ** 20)} MiB sent`;
    return [
      createRow(`first-${id}`, `first character after the provider's first byte (${name})`, {
        value: median(delays.slice(2)),
        unit: "ms",
        detail: `best ${ms(Math.min(...delays))}, worst ${ms(Math.max(...delays))}`,
      }),
      createRow(`overhead-${id}`, `jpg query − the provider's library called directly (${name})`, {
        // Of neighbours, so that what else the machine does meets both.
        value: median(over.slice(1)),
        unit: "ms",
        detail: `${ms(times.query.median)} − ${ms(times.bare.median)}; best − best ${ms(times.query.best - times.bare.best)}; an empty node ${ms(times.node.median)}; ${size}`,
      }),
      createRow(`request-${id}`, `the same until the answer begins (${name})`, {
        value: median(waits.slice(2)) - median(bareWait),
        unit: "ms",
        detail: `best − best ${ms(Math.min(...waits) - Math.min(...bareWait))}`,
      }),
    ];
  } finally {
    server.close();
  }
}

/** Runs a node program to its end; resolves to when it wrote its first output. */
function firstOutput(script, args, { env, cwd }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
    let first = 0;
    let problem = "";
    child.stdout.on("data", () => {
      first ||= performance.now();
    });
    child.stderr.on("data", (text) => {
      problem += text;
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 && first > 0 ? resolve(first) : reject(new Error(`${script} ended with ${code}: ${problem}`)),
    );
  });
}
