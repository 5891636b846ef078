// Stands in for `jpg live` where a test wants a certain answer: FAKE_JPG names a folder with `answer.mjs`, which exports
// `answer(request)`; each request is added to `requests.jsonl` there. `answer` may return text, which is printed as it is.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.env.FAKE_JPG;
const { answer } = await import(pathToFileURL(`${folder}/answer.mjs`).href);
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(`${folder}/requests.jsonl`, `${line}\n`);
  const said = await answer(JSON.parse(line));
  process.stdout.write(typeof said === "string" ? said : `${JSON.stringify(said)}\n`);
}
