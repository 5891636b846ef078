// @module-tag law
// @module-tag law
// A small write makes what `git fast-import` makes of the same: ids, trees, and objects that git takes.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { BranchWrite, CommitSpec, ConversationStore, FileChange } from "../../../src/store/store.ts";
import { anyText } from "../../helpers/any-text.ts";
import { runs } from "../../helpers/runs.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

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

/** What comes in a stream goes to git. */
async function* streamed(write: BranchWrite): AsyncGenerator<BranchWrite> {
  await Promise.resolve();
  yield write;
}

const paths = fc.constantFrom("a", "b ü", "d/x", "d/y", "d/e/z", "d.x", "d0/x");
const changes: fc.Arbitrary<FileChange> = fc.oneof(
  fc.record({ path: paths, bytes: anyText().map((text) => Buffer.from(text)) }),
  fc.record({ path: paths, remove: fc.constant(true as const) }),
);

describe("a small write", () => {
  it("gives the ids of fast-import, and objects that git takes", async () => {
    const { commit: parent } = await append(store, "t/main", [commit("root", [file("d/x", "1"), file("z", "2")])]);
    const { commit: side } = await append(store, "t/side", [commit("side", [file("d/x", "3")])]);
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(changes, { maxLength: 4 }), { minLength: 1, maxLength: 3 }), async (lists) => {
        const specs: readonly CommitSpec[] = lists.map((list, at) => ({
          ...commit(`commit ${at}\n\nß`, list, at),
          ...(list.length % 2 === 0 ? {} : { merges: [side] }),
        }));
        const small = { branch: `small/${++made}`, expected: null, parent, commits: specs };
        const [own] = await store.write([small]);
        const [gits] = await store.write(streamed({ ...small, branch: `git/${made}` }));
        expect(own?.commits).toEqual(gits?.commits);
      }),
      { numRuns: runs(15) },
    );
    expect(git(temp.root, temp.env, ["fsck", "--full", "--strict", "--no-dangling"])).toBe("");
  });

  it("leaves to git, and to its words, what is missing or no commit", async () => {
    const missing = "1234567890123456789012345678901234567890";
    const write = { branch: "t/main", expected: null, parent: missing, commits: [commit("x", [file("x", "1")])] };
    await expect(store.write([write])).rejects.toMatchObject({ kind: "repository" });
    const { commit: parent } = await append(store, "u/main", [commit("root", [file("x", "1")])]);
    const named = { ...write, parent, commits: [commit("y", [{ path: "y", oid: missing }])] };
    await expect(store.write([named])).rejects.toMatchObject({ code: "object_missing" });
    const merged = { ...write, parent, commits: [{ ...commit("z", [file("z", "1")]), merges: [missing] }] };
    await expect(store.write([merged])).rejects.toMatchObject({ kind: "repository" });
    expect(await store.readBranch("t/main")).toBeNull();
  });
});
