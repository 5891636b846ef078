// @module-tag law
// The branches of a session are those whose conversation bears its suffix or is the one that it continues.
import fc from "fast-check";
import { expect, it } from "vitest";
import { randomId } from "../../../src/app/conversation/runtime.ts";
import { familyOf, importSuffix } from "../../../src/app/names/find-session.ts";
import { conversationOf, isTurnNumber, suffixOf } from "../../../src/core/conversation/name.ts";
import { surveyedSession } from "../../helpers/surveyed-session.ts";
import { createMemoryWorkspace, createTestRuntime, importBytes } from "../../helpers/workspace.ts";

const suffix = fc.constantFrom("ab12", "ab13", "ab12c", "ab12cd", "zz00");
const conversation = fc.oneof(
  fc.tuple(fc.constantFrom("one", "one-two", ""), suffix).map(([slug, end]) => `${slug}-${end}`),
  fc.constantFrom("ab12", "one", "a-b", "ab1"),
);

it("finds what going through all branches finds, in their order, however often it is asked", () => {
  const tips = fc.array(
    fc
      .tuple(conversation, fc.constantFrom("main", "fork"))
      .map(([name, fork]) => ({ name: `${name}/${fork}`, commit: fork })),
  );
  fc.assert(
    fc.property(tips, fc.array(fc.tuple(suffix, fc.option(conversation, { nil: undefined }))), (branches, asked) => {
      for (const [wanted, continues] of asked) {
        const plain = branches.filter(({ name }) => {
          const of = conversationOf(name);
          return of === continues || of.slice(of.lastIndexOf("-") + 1).startsWith(wanted);
        });
        expect(familyOf(branches, { suffix: wanted, continues })).toEqual(plain);
      }
    }),
  );
});

it("is found, too, where the suffix is longer because four characters would have been all digits", async () => {
  const ids = Array.from({ length: 5000 }, (_, at) => `5e551073-0000-4000-8000-${String(at).padStart(12, "0")}`);
  const session = ids.find((id) => isTurnNumber(importSuffix("claude-code", id))) ?? "";
  const workspace = await createMemoryWorkspace();
  const { id } = await importBytes(workspace, surveyedSession({ turns: 2, session }));
  expect(suffixOf(id)).toMatch(/^\d{4}\d*[a-z]/);
  const again = await importBytes(workspace, surveyedSession({ turns: 3, session }));
  expect(again).toMatchObject({ id, status: "updated", turns: 3 });
});

it("is named by random ids, of which none is the number of a turn", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 8, max: 40 }), (bytes) => {
      const runtime = { ...createTestRuntime("/"), random: () => bytes };
      const id = randomId(runtime, bytes.length);
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]+$/);
      expect(id).toHaveLength(bytes.length);
      expect(isTurnNumber(id)).toBe(false);
    }),
  );
});
