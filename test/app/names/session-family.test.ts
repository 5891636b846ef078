// The branches of a session are those whose conversation bears its suffix or is the one that it continues.
import fc from "fast-check";
import { expect, it } from "vitest";
import { familyOf } from "../../../src/app/names/session-family.ts";
import { conversationOf } from "../../../src/core/conversation-name.ts";

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
