import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { CommitSpec, ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
beforeEach(async () => {
  temp = await createTempStore();
  store = await openNativeStore(temp);
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

function useSigner(script: string, gpgSign = true): void {
  const program = join(temp.folder, "signer");
  writeText(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  writeText(
    join(temp.folder, "home", ".gitconfig"),
    `[commit]\n\tgpgSign = ${gpgSign}\n[user]\n\tsigningKey = KEY\n[gpg]\n\tprogram = ${program}\n`,
  );
}

const SIGNER =
  'cat >/dev/null; echo "[GNUPG:] SIG_CREATED x" >&2; echo "-----BEGIN PGP SIGNATURE-----"; echo made-by-test; echo "-----END PGP SIGNATURE-----"';
const commits: readonly CommitSpec[] = [
  commit("turn 0", [file("turns/0", "0")], 0),
  { ...commit("compact ü", [file("compactions/c", "c")], 1), sign: true },
  commit("turn 1", [file("turns/1", "1")], 2),
];
const isSigned = (id: string): boolean => git(temp.root, temp.env, ["cat-file", "commit", id]).includes("made-by-test");

describe("commits that ask to be signed", () => {
  it("are signed when the user's git says so, and only they", async () => {
    useSigner(SIGNER);
    const result = await append(store, "t/main", commits);
    expect(result.commits.map(isSigned)).toEqual([false, true, false]);
    expect(result.commit).toBe(await store.readBranch("t/main"));
    const log = await store.readLog({ from: "t/main" });
    expect(log.map(({ commit: id }) => id).reverse()).toEqual(result.commits);
    expect(log[1]).toMatchObject({
      message: "compact ü\n",
      author: commits[1]?.author,
      committer: commits[1]?.committer,
      added: ["compactions/c"],
    });
  });

  it("wait for a program that waits, and say which, how long that may take and how to do without", {
    tags: ["slow"],
  }, async () => {
    const told = join(temp.folder, "told");
    useSigner(`while [ ! -e '${told}' ]; do sleep 0.1; done; ${SIGNER}`);
    const said: string[] = [];
    const waiting = await openNativeStore({
      ...temp,
      say: (text) => {
        said.push(text);
        writeText(told, "");
      },
    });
    const result = await append(waiting, "t/main", commits);
    await waiting.close();
    expect(result.commits.map(isSigned)).toEqual([false, true, false]);
    expect(said).toEqual([
      `git is signing with ${join(temp.folder, "signer")} (commit.gpgSign), which may be waiting for a PIN, a password or a key. To commit unsigned here, stop this command and type \`git -C ${temp.root} config commit.gpgSign false\`.`,
    ]);
  });

  it("keep all their parents", async () => {
    useSigner(SIGNER);
    const { commit: side = "" } = await append(store, "t/side", [commit("turn 0", [file("turns/0", "0")])]);
    const merge = { ...commit("told", [file("turns/1", "1")], 3), sign: true, merges: [side] };
    const { commit: own } = await append(store, "t/main", [commit("turn 0", [file("turns/0", "z")])]);
    for (const specs of [
      [merge],
      [merge, ...Array.from({ length: 40 }, (_, n) => commit(`turn ${n}`, [file(`x/${n}`, "")]))],
    ]) {
      await store.write([{ branch: "t/main", expected: own, parent: own, commits: specs }]);
      const [oldest] = (await store.readLog({ from: "t/main" })).filter(({ message }) => message === "told\n");
      expect(oldest?.parents).toEqual([own, side]);
      expect(isSigned(oldest?.commit ?? "")).toBe(true);
      git(temp.root, temp.env, ["update-ref", "refs/heads/t/main", own]);
    }
  });

  it("are the same as unsigned ones when it does not", async () => {
    useSigner("exit 1", false);
    const signed = await append(store, "a/main", commits);
    const plain = await append(
      store,
      "b/main",
      commits.map(({ sign: _, ...rest }) => rest),
    );
    expect(signed.commits).toEqual(plain.commits);
  });

  it("are refused, and the branch not moved, when signing fails", async () => {
    useSigner("exit 1");
    await expect(append(store, "t/main", commits)).rejects.toMatchObject({
      kind: "repository",
      code: "signing_failed",
    });
    expect(await store.readBranch("t/main")).toBeNull();
  });
});
