// `jpg serve`: who gets in, what the pages show, what can be done on them.
import { rmSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { type ServedPages, servePagesOf } from "../helpers/served-pages.ts";

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function prepare(turns = 6): Promise<ImportedSandbox> {
  const sandbox = await copyImportedSandbox(turns);
  open.push({ close: sandbox.remove });
  return sandbox;
}

async function serve(sandbox: ImportedSandbox, options?: Parameters<typeof servePagesOf>[1]): Promise<ServedPages> {
  const pages = await servePagesOf(sandbox, options);
  open.push(pages);
  return pages;
}

const pathOf = ({ conversation }: ImportedSandbox): string => `/c/${encodeURIComponent(`${conversation}/main`)}`;

/** Sends a form and gives the text of the page that it leads to. */
async function act(pages: ServedPages, path: string, form: Readonly<Record<string, string>>): Promise<string> {
  const { status, headers } = await pages.ask(path, { form });
  expect(status).toBe(303);
  return (await pages.ask(String(headers["location"]).replace(/#.*/, ""))).body;
}

/** What a page was told to say. */
const said = (body: string): string => /<div id="notices" role="status">(.*?)<\/div>/s.exec(body)?.[1] ?? "";

describe("pages of a store", () => {
  it("are for whoever has the printed address, once", async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox, { enter: false });
    const { pathname, search } = new URL(pages.address);
    expect((await pages.ask("/")).status).toBe(403);
    expect((await pages.ask(pathOf(sandbox))).body).toContain("Open the address that jpg serve printed.");
    const entered = await pages.ask(pathname + search);
    expect(entered).toMatchObject({ status: 303, headers: { location: "/" } });
    const cookie = String(entered.headers["set-cookie"]).split(";")[0] ?? "";
    expect((await pages.ask("/", { headers: { cookie } })).status).toBe(200);
    expect((await pages.ask(pathname + search)).status).toBe(403);
  });

  it("answer no other name, and no form of another page", async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox);
    expect((await pages.ask("/", { headers: { host: "evil.example" } })).status).toBe(421);
    const form = { title: "stolen" };
    const foreign = await pages.ask(`${pathOf(sandbox)}/title`, { form, headers: { origin: "https://evil.example" } });
    expect(foreign.status).toBe(403);
    expect((await sandbox.jpg(["title"])).stdout).toBe("Measure the tide at the pier\n");
  });

  it("allow no script, style or image from elsewhere", async () => {
    const pages = await serve(await prepare(2));
    for (const path of ["/", "/page.css", "/page.js", "/state", "/nothing"]) {
      const { headers } = await pages.ask(path);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    }
  });

  it("list conversations and find them by their words", async () => {
    const sandbox = await prepare(2);
    await sandbox.jpg(["label", "@", "harbour"]);
    const pages = await serve(sandbox);
    expect((await pages.ask("/")).body).toContain(
      `<a href="${pathOf(sandbox)}">Measure the tide at the pier</a> <span class="label">active</span> <span class="label">harbour</span>`,
    );
    expect((await pages.ask("/?words=TIDE+harbour")).body).toContain("Measure the tide");
    expect((await pages.ask("/?words=nowhere")).body).toContain("No conversation has these words");
  });

  it("compact after a dry run, show what the model saw and sees, take back and bring back", async () => {
    const sandbox = await prepare();
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    const form = { from: "0", to: "3", profile: "default" };
    const dry = await act(pages, `${path}/compact`, { ...form, how: "dry-run" });
    expect(said(dry)).toMatch(/It would do this: .*turns 0\.\.3; .* → .* tokens\./);
    expect((await sandbox.jpg(["log"])).stdout).toBe("");
    const done = await act(pages, `${path}/compact`, { ...form, how: "do" });
    expect(said(done)).toMatch(/Compacted: .*turns 0\.\.3/);
    const [row] = await sandbox.json<readonly { compaction: string; commit: string }[]>(["log"]);
    const shown = await pages.ask(`${path}/compaction/${row?.compaction}`);
    expect(shown.body).toContain("<del>");
    const back = await act(pages, `${path}/revert`, { id: row?.commit ?? "" });
    expect(said(back)).toContain(`Reverted ${row?.compaction}`);
    const [revert] = await sandbox.json<readonly { kind: string; commit: string }[]>(["log"]);
    expect(revert?.kind).toBe("revert");
    expect(said(await act(pages, `${path}/revert`, { id: revert?.commit ?? "" }))).toContain("Brought back");
  });

  it("tell what a compaction lost, jump to who said it, and pin that with one button", async () => {
    const sandbox = await prepare();
    await sandbox.jpg(["compact", "--from", "0", "--to", "3", "--accept", "-", "--force"], { input: "Some water." });
    const [row] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    const pages = await serve(sandbox);
    const address = `${pathOf(sandbox)}/compaction/${row?.compaction}`;
    const { body } = await pages.ask(address);
    const [, what = ""] = /<button name="what" value="([^"]+)"/.exec(body) ?? [];
    const [turn = "", event = ""] = what.split(":");
    expect(body).toContain(`href="${pathOf(sandbox)}?at=${what}#event-${event}">turn ${turn}</a>`);
    expect((await pages.ask(pathOf(sandbox))).body).toContain(`id="event-${event}"`);
    const pinned = await pages.ask(`${pathOf(sandbox)}/pin`, { form: { what, back: address } });
    expect(String(pinned.headers["location"]).split("?")[0]).toBe(address);
    expect((await pages.ask(address)).body).toContain('<span class="facts pinned">pinned</span>');
    expect(await sandbox.json(["pin"])).toMatchObject([{ turn: Number(turn), event }]);
    const elsewhere = await pages.ask(`${pathOf(sandbox)}/unpin`, { form: { what, back: "//evil.example/" } });
    expect(String(elsewhere.headers["location"]).split("?")[0]).toBe(pathOf(sandbox));
  });

  it("show a summary beside its sources, with what nobody said marked", async () => {
    const sandbox = await prepare();
    const input = 'Asked to "Measure the tide at the pier"; see docs/tide.md, 4711 <boats>.';
    await sandbox.jpg(["compact", "--from", "0", "--to", "2", "--accept", "-", "--force"], { input });
    const [row] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    const pages = await serve(sandbox);
    const { body } = await pages.ask(`${pathOf(sandbox)}/compaction/${row?.compaction}`);
    expect(body).toContain("2 of its 3 facts were never said.");
    expect(body).toMatch(/<mark title="Nobody said this\."><a href="#fact-[^"]+">docs\/tide\.md<\/a><\/mark>/);
    expect(body).toMatch(/&quot;<a href="#fact-[^"]+">Measure the tide at the pier<\/a>&quot;/);
    expect(body).toMatch(/<blockquote><p class="facts"><a href="[^"]+#event-[^"]+">turn 0<\/a>, user<\/p>/);
    expect(body).toContain("&lt;boats&gt;");
  });

  it("pin, unpin, fork, title and label as the commands do", async () => {
    const sandbox = await prepare();
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    expect(said(await act(pages, `${path}/pin`, { what: "0" }))).toContain("Pinned");
    expect(await sandbox.json(["pin"])).toMatchObject([{ turn: 0 }]);
    expect(said(await act(pages, `${path}/unpin`, { what: "0" }))).toContain("Unpinned");
    expect(said(await act(pages, `${path}/title`, { title: "<b>Tides</b>" }))).toContain("&lt;b&gt;Tides&lt;/b&gt;");
    expect(said(await act(pages, `${path}/label`, { label: "sea" }))).toContain("Labels: sea.");
    const forked = await act(pages, `${path}/fork`, { turn: "1", name: "low-tide" });
    expect(said(forked)).toContain(`Forked to ${sandbox.conversation}/low-tide, 2 turns.`);
    expect(forked).not.toContain('id="turn-2"');
  });

  it("show a conversation as if a compaction were taken back, and change nothing for it", async () => {
    const sandbox = await prepare();
    await sandbox.jpg(["compact", "--to", "3"]);
    const compacted = sandbox.git(["rev-parse", "HEAD"]);
    const [row] = await sandbox.json<readonly { compaction: string; commit: string }[]>(["log"]);
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    const hidden = /class="row [a-z]+ (?:hidden|changed)/;
    expect((await pages.ask(path)).body).toMatch(hidden);
    const look = await pages.ask(`${path}?without=${row?.compaction}`);
    expect(look.body).not.toMatch(hidden);
    expect(look.body).toContain("Nothing was changed.");
    expect(look.body).toContain(`href="${path}?without=${row?.compaction}&amp;at=2#turn-2"`);
    // The only thing that can be done from there is what was looked at.
    expect([...look.body.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, to]) => to)).toEqual([
      `${path}/revert`,
    ]);
    expect(sandbox.git(["rev-parse", "HEAD"])).toBe(compacted);
    // Taken back in a terminal while its page is open.
    await sandbox.jpg(["revert", row?.compaction ?? ""]);
    const gone = await pages.ask(`${path}?without=${row?.compaction}`);
    expect(gone.status).toBe(404);
    expect(gone.body).toContain("is not in force");
    const again = await pages.ask(`${path}/revert`, { form: { id: row?.commit ?? "" } });
    expect(again.status).toBe(400);
    expect(again.body).toMatch(/reverted it.*brings it back/s);
    expect((await pages.ask(`${path}/compaction/${row?.compaction}`)).body).toContain("Bring it back");
  });

  it("show two forks side by side", async () => {
    const sandbox = await prepare();
    await sandbox.jpg(["fork", "@", "low", "--first", "4", "--no-activate"]);
    await sandbox.jpg(["compact", `${sandbox.conversation}/low`, "--to", "1"]);
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    const address = `${path}/compare/${encodeURIComponent(`${sandbox.conversation}/low`)}`;
    expect((await pages.ask(path)).body).toContain(`<a href="${address}">side by side</a>`);
    const { body } = await pages.ask(address);
    expect(body).toContain("4 turns are the same on both");
    const rows = [
      ...body.matchAll(/<div class="two"><div>(.*?)<\/div><div>(?!<div class="side removed)(.*?)<\/div><\/div>\n/gs),
    ];
    const stripped = rows.filter(
      ([, left, right]) => left?.includes("output of toolu") && right?.includes("[compacted]"),
    );
    expect(stripped).toHaveLength(2);
    expect(rows.some(([, left, right]) => left?.includes("Answer 5") && right === "")).toBe(true);
    expect((await pages.ask(`${path}/compare/no-such`)).status).toBe(404);
  });

  it("show what fills the window", async () => {
    const sandbox = await prepare();
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    expect((await pages.ask(path)).body).toContain(`href="${path}/anatomy"`);
    const { body } = await pages.ask(`${path}/anatomy`);
    expect(body).toContain('<th scope="row">Bash, 6 calls</th>');
    expect(body).toMatch(/<a href="[^"]+\?at=\d#turn-\d">turn \d<\/a>/);
  });

  it("take comments on turns and give them back", async () => {
    const sandbox = await prepare();
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    const body = await act(pages, `${path}/comment`, { about: "2", text: "<i>Odd</i>,\nthis one." });
    expect(body).toContain('<p class="said">&lt;i&gt;Odd&lt;/i&gt;,\nthis one.</p>');
    expect(body).toContain(`Ada Test on <a href="${path}?at=2#turn-2">turn 2</a>`);
    const [comment] = await sandbox.json<readonly { id: string; text: string }[]>(["comment"]);
    const turns = (of: string): readonly string[] => of.split('<section class="turn"');
    expect(turns(body).map((turn) => turn.includes("<i>") || turn.includes("&lt;i&gt;Odd"))).toEqual(
      // In the list of comments, and at the third turn.
      [true, false, false, true, false, false, false],
    );
    const event = /id="event-([^"]+)"/.exec(turns(body)[5] ?? "")?.[1] ?? "";
    await sandbox.jpg(["comment", "@", `4:${event}`, "At", "this"]);
    expect((await pages.ask(path)).body).toMatch(
      new RegExp(`id="event-${event}">(?:(?!id="event-).)*<p class="said">At this</p></div>\n</div>`, "s"),
    );
    expect(comment?.text).toBe("<i>Odd</i>,\nthis one.");
    const form = { id: comment?.id ?? "" };
    const [one, other] = await Promise.all([1, 2].map(() => pages.ask(`${path}/uncomment`, { form })));
    // Of two tabs that take it back at once one does it, and the other is told.
    expect([one?.status, other?.status].toSorted()).toEqual([303, expect.any(Number)]);
    expect(await sandbox.json(["comment"])).toMatchObject([{ text: "At this" }]);
    const file = await sandbox.jpg(["export", "--to", "html"]);
    expect(file.stdout).not.toContain('<form method="post"');
  });

  it("say in words what was wrong, and do nothing then", async () => {
    const sandbox = await prepare(3);
    const pages = await serve(sandbox);
    const path = pathOf(sandbox);
    const before = sandbox.git(["for-each-ref"]);
    for (const [action, form, words] of [
      ["title", { title: " " }, "The form came without &quot;title&quot;."],
      ["pin", { what: "99" }, "turn 99"],
      ["compact", { from: "0", to: "2", profile: "nonsense", how: "do" }, "not with &quot;nonsense&quot;"],
      ["revert", { id: "zzzzzz" }, "zzzzzz"],
    ] as const) {
      const { status, body } = await pages.ask(`${path}/${action}`, { form });
      expect({ action, isRefused: status >= 400 && status < 500 }).toEqual({ action, isRefused: true });
      expect(body).toContain(words);
    }
    expect((await pages.ask(`${path}/title`, { form: { title: "x".repeat(70_000) } })).body).toContain(
      "at most 65536 bytes",
    );
    expect((await pages.ask("/c/no-such-conversation")).status).toBe(404);
    expect((await pages.ask("/c/%E0%A4%A")).status).toBe(400);
    // Outside the folder of the pages.
    expect((await pages.ask("/../../etc/passwd")).status).toBe(403);
    expect(sandbox.git(["for-each-ref"])).toBe(before);
  });

  it("change nothing where other machines can look", async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox, { host: "0.0.0.0" });
    expect(pages.readOnly).toBe(true);
    expect((await pages.ask(pathOf(sandbox))).body).not.toContain('<form method="post"');
    expect((await pages.ask(`${pathOf(sandbox)}/title`, { form: { title: "x" } })).status).toBe(403);
  });

  it("see what others do meanwhile, and say when the store is gone", async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox);
    const state = (await pages.ask("/state")).body;
    await sandbox.jpg(["title", "@", "Another"]);
    expect((await pages.ask("/state")).body).not.toBe(state);
    expect((await pages.ask(pathOf(sandbox))).body).toContain("<h1>Another</h1>");
    rmSync(sandbox.store, { recursive: true });
    const { status, body } = await pages.ask(pathOf(sandbox));
    expect(status).toBe(500);
    expect(body).toContain("That did not work");
  });

  it("listen where they are told, or say why not", async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox);
    const port = new URL(pages.address).port;
    for (const [words, code, text] of [
      [["--port", port], 2, `Port ${port} of 127.0.0.1 is taken.`],
      [["--port", "70000"], 2, "--port 70000 is not a port"],
      [["--port", "-1"], 2, "--port -1 is not a port"],
      [["--host", "192.0.2.1"], 2, "192.0.2.1 is not an address that this machine can listen on"],
    ] as const) {
      const outcome = await sandbox.jpg(["serve", ...words]);
      expect(outcome).toMatchObject({ code, stdout: "" });
      expect(outcome.stderr).toContain(text);
    }
  });
});
