// `jpg serve` against those who would get in, get more, or keep it busy; and against what goes wrong without anybody's will.
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { type ServedPages, servePagesOf } from "../helpers/served-pages.ts";

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function serve(turns = 2, options?: Parameters<typeof servePagesOf>[1]) {
  const sandbox: ImportedSandbox = await copyImportedSandbox(turns);
  open.push({ close: sandbox.remove });
  const pages: ServedPages = await servePagesOf(sandbox, options);
  open.push(pages);
  return { sandbox, pages, path: `/c/${encodeURIComponent(`${sandbox.conversation}/main`)}` };
}

/** Sends bytes as they are; gives what comes back until the server hangs up or has answered once. */
function sendRaw({ origin }: ServedPages, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
      if (text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

describe("the server of pages", () => {
  it("keeps its one token for its own name, and never says it again", async () => {
    const { pages } = await serve(2, { enter: false });
    const { pathname, search } = new URL(pages.address);
    const foreign = { host: `evil.example:${new URL(pages.address).port}` };
    expect((await pages.ask(pathname + search, { headers: foreign })).status).toBe(421);
    const { status, headers, body } = await pages.ask(pathname + search);
    expect({ status, location: headers["location"], body }).toEqual({ status: 303, location: "/", body: "" });
    expect(headers["referrer-policy"]).toBe("same-origin");
    expect(String(headers["set-cookie"])).toMatch(/^jpg-\d+=\w+; Path=\/\w{16}\/; HttpOnly; SameSite=Strict$/);
    expect((await pages.ask("/", { headers: { cookie: `jpg-1=${search.slice(7)}` } })).status).toBe(403);
  });

  it("takes what changes something as a form of its own pages and in no other way", async () => {
    const { sandbox, pages, path } = await serve();
    const before = sandbox.git(["for-each-ref"]);
    const host = new URL(pages.address).host;
    const form = { title: "stolen" };
    for (const origin of [
      "null",
      "https://evil.example",
      `https://${host}`,
      `http://${host}.evil.example`,
      "http://localhost:1",
    ])
      expect((await pages.ask(`${path}/title`, { form, headers: { origin } })).status).toBe(403);
    expect((await pages.ask(`${path}/title?title=stolen`)).status).toBe(405);
    expect(sandbox.git(["for-each-ref"])).toBe(before);
  });

  it("answers HEAD without a body, and no other method", async () => {
    const { pages, path } = await serve();
    const { hostname, port } = new URL(pages.origin);
    const { headers } = await pages.ask("/");
    expect(headers["content-type"]).toContain("text/html");
    for (const method of ["OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND"]) {
      const answer = await sendRaw(
        pages,
        `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nOrigin: http://${hostname}:${port}\r\n\r\n`,
      );
      expect({ method, status: statusOf(answer) }).toEqual({ method, status: 403 });
      expect(answer).not.toContain("access-control");
    }
    const { status, headers: told } = await pages.ask(`${path}/title`);
    expect({ status, allow: told["allow"] }).toEqual({ status: 405, allow: "POST" });
  });

  it("gives nothing but what it serves, whatever an address names", async () => {
    const { pages, path } = await serve();
    for (const address of [
      "/c/..%2f..%2f..%2f..%2fetc%2fpasswd",
      "/c/%2e%2e/%2e%2e/etc/passwd",
      "/page.css/../../package.json",
      "/page.js%00.html",
      "//evil.example/",
      "/\\evil.example/",
      "/c/--upload-pack=touch",
      "/c/HEAD:conversation.json",
      "/c/a%00b",
      "/c/%0d%0aset-cookie:%20a=b",
      `/c/${"x".repeat(5000)}`,
      `${path}/compaction/..%2f..%2fconversation.json`,
      `${path}/compaction/--all`,
      `${path}?without=..%2F..`,
      `${path}?commit=HEAD`,
      `${path}/turns?from=-1&to=99999999999`,
    ]) {
      const { status, headers, body } = await pages.ask(address);
      expect({ address, isRefused: status >= 400 && status < 500, cookie: headers["set-cookie"] }).toEqual({
        address,
        isRefused: true,
        cookie: undefined,
      });
      expect(body).not.toMatch(/root:|"format":1|"dependencies"/);
    }
    expect((await pages.ask("/c/%3Cscript%3Ealert(1)%3C%2Fscript%3E")).body).not.toContain("<script>alert");
  });

  it("hangs up on what can be read in two ways", async () => {
    const { pages, path } = await serve();
    const host = new URL(pages.address).host;
    const head = `POST ${path}/title HTTP/1.1\r\nHost: ${host}\r\n`;
    for (const rest of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
      "Content-Length : 5\r\n\r\nabcde",
      `X: ${"y".repeat(20_000)}\r\n\r\n`,
    ]) {
      const status = statusOf(await sendRaw(pages, head + rest));
      expect({ rest: rest.slice(0, 40), isRefused: [400, 403, 431].includes(status) }).toEqual({
        rest: rest.slice(0, 40),
        isRefused: true,
      });
    }
    const noHost = await sendRaw(pages, "GET / HTTP/1.1\r\n\r\n");
    expect(statusOf(noHost)).toBe(400);
    const other = await sendRaw(pages, `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    expect(statusOf(other)).toBe(421);
  });

  it("serves on while others hold connections open with half a request", async () => {
    const { pages } = await serve();
    const { hostname, port } = new URL(pages.origin);
    const sockets = await Promise.all(
      Array.from(
        { length: 200 },
        () =>
          new Promise<Socket>((resolve, reject) => {
            const socket = connect(Number(port), hostname, () => {
              socket.write("GET / HTTP/1.1\r\nHo");
              resolve(socket);
            });
            socket.on("error", reject);
          }),
      ),
    );
    open.push({
      close() {
        for (const socket of sockets) socket.destroy();
      },
    });
    expect((await pages.ask("/")).status).toBe(200);
  });

  it("gives back what somebody wrote when it could not be taken", async () => {
    const { sandbox, pages, path } = await serve();
    const text = "A long thought\nwith <b>signs</b>.";
    const { status, body } = await pages.ask(`${path}/comment`, { form: { about: "99", text } });
    expect(status).toBe(404);
    expect(body).toContain("no turn 99");
    expect(body).toContain("A long thought\nwith &lt;b&gt;signs&lt;/b&gt;.");
    await sandbox.jpg(["rm", sandbox.conversation]);
    const gone = await pages.ask(`${path}/comment`, { form: { about: "0", text } });
    expect(gone.status).toBe(404);
    expect(gone.body).toMatch(/This store has no conversation .*A long thought/s);
    expect((await pages.ask(path)).status).toBe(404);
    rmSync(sandbox.store, { recursive: true });
    const lost = await pages.ask(`${path}/comment`, { form: { about: "0", text } });
    expect(lost.status).toBe(500);
    expect(lost.body).toMatch(/That did not work.*A long thought/s);
  });

  it("lets two tabs act at once: both acts land, or the second is told why", { tags: ["slow"] }, async () => {
    const { sandbox, pages, path } = await serve(6);
    const post = (action: string, form: Readonly<Record<string, string>>) => pages.ask(`${path}/${action}`, { form });
    const both = await Promise.all([
      post("comment", { about: "0", text: "One." }),
      post("comment", { about: "0", text: "Two." }),
      post("label", { label: "a" }),
      post("label", { label: "b" }),
      post("compact", { from: "0", to: "2", profile: "default", how: "do" }),
      post("title", { title: "Tides" }),
    ]);
    expect(both.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 303]);
    const said = await sandbox.json<readonly { text: string }[]>(["comment"]);
    expect(said.map(({ text }) => text).toSorted()).toEqual(["One.", "Two."]);
    expect((await sandbox.jpg(["label"])).stdout).toMatch(/a[\s\S]*b/);
    const [row] = await sandbox.json<readonly { commit: string; compaction: string }[]>(["log"]);
    const undone = await Promise.all([1, 2].map(() => post("revert", { id: row?.commit ?? "" })));
    const [first, second] = undone.toSorted((a, b) => a.status - b.status);
    expect(first?.status).toBe(303);
    if (second?.status !== 303) expect(second?.body).toContain("is not in force");
    const log = await sandbox.json<readonly { kind: string }[]>(["log"]);
    expect(log.map(({ kind }) => kind)).toEqual(["revert", "compaction"]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("tells a page of an earlier server that it is out of date", async () => {
    const { sandbox, pages, path } = await serve();
    const cookie = `jpg-${new URL(pages.address).port}=of-the-server-before`;
    const stale = await pages.ask(path, { headers: { cookie } });
    expect(stale).toMatchObject({ status: 403 });
    expect(stale.body).toContain("Open the address that jpg serve printed.");
    expect((await pages.ask(`${path}/title`, { form: { title: "x" }, headers: { cookie } })).status).toBe(403);
    expect((await sandbox.jpg(["title"])).stdout).toBe("Measure the tide at the pier\n");
  });
});
