// A page that compacts with a summary by a model: whom it asks, when, and what it says before that.
import { afterEach, describe, expect, it } from "vitest";
import { type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { servePagesOf } from "../helpers/served-pages.ts";
import { answer } from "../helpers/summaries.ts";

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function serve({ isNamed }: { readonly isNamed: boolean }) {
  const sandbox = await copyImportedSandbox(6);
  open.push({ close: sandbox.remove });
  const server: ChatServer = await startChatServer((stream) => {
    stream.text(answer("The tide was measured."));
    stream.finish();
  });
  open.push(server);
  if (isNamed) writeUserConfig(sandbox, server.config);
  const pages = await servePagesOf(sandbox);
  open.push(pages);
  const path = `/c/${encodeURIComponent(`${sandbox.conversation}/main`)}/compact`;
  return { sandbox, server, ask: (form: Readonly<Record<string, string>>) => pages.ask(path, { form }), pages };
}

const FORM = { from: "0", to: "3", profile: "summary" };

describe("a summary by a model, on a page", () => {
  it("asks nobody before a second yes that names the model and the price", async () => {
    const { sandbox, server, ask, pages } = await serve({ isNamed: true });
    const dry = await ask({ ...FORM, how: "dry-run" });
    expect((await pages.ask(String(dry.headers["location"]))).body).toMatch(
      /It asks test\/model-1 for a summary of turns 0\.\.3: about [\d.k]+ tokens are sent, at an unknown price\./,
    );
    const first = await ask({ ...FORM, how: "do" });
    expect(first.status).toBe(200);
    expect(first.body).toContain("Nothing has been sent yet.");
    expect((await ask({ ...FORM, how: "do", confirm: "test/another" })).body).toContain("Nothing has been sent yet.");
    expect({ requests: server.requests.length, log: await sandbox.json(["log"]) }).toEqual({ requests: 0, log: [] });
    const [, model = ""] = /<input type="hidden" name="confirm" value="([^"]+)">/.exec(first.body) ?? [];
    const done = await ask({ ...FORM, how: "do", confirm: model });
    expect(done.status).toBe(303);
    expect(server.requests).toHaveLength(1);
    expect(await sandbox.json(["log"])).toMatchObject([{ kind: "compaction", from_turn: 0, to_turn: 3 }]);
  });

  it("writes an extract where the user named no model, whatever a form names", async () => {
    const { sandbox, server, ask } = await serve({ isNamed: false });
    const { status } = await ask({ ...FORM, how: "do", confirm: "test/model-1", model: "test/model-1" });
    expect(status).toBe(303);
    expect(server.requests).toHaveLength(0);
    const [row] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    expect(await sandbox.json(["show", row?.compaction ?? ""])).toMatchObject({ summary: { source: "extractive" } });
  });
});
