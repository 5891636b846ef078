// The records of decisions as one history: whoever reads an older one is told which newer one changed it.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../docs/decisions/", import.meta.url));

/** What a record says of itself below its title, by its number. */
const statuses = new Map(
  readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.md$/.test(name) && !name.startsWith("000"))
    .map((name) => [name.slice(0, 3), /^Status: .*$/m.exec(readFileSync(`${folder}${name}`, "utf8"))?.[0] ?? ""]),
);

/** The numbers of the records that a part of a status links to. */
function linked(text: string): string[] {
  return [...text.matchAll(/\[(\d{3})\]/g)].map(([, number = ""]) => number);
}

/** What a record changes of older ones: `newer → older`. */
const changes = [...statuses].flatMap(([newer, status]) =>
  status
    .split(/ · |; /)
    .filter((part) => /^(?:amends|supersedes)\b/i.test(part))
    .flatMap(linked)
    .map((older) => ({ newer, older })),
);

describe("records of decisions", () => {
  it("say whether they hold", () => {
    expect(statuses.size).toBeGreaterThan(60);
    const silent = [...statuses].filter(([, status]) => !/^Status: (?:accepted|superseded)\b/.test(status));
    expect(silent.map(([number]) => number)).toEqual([]);
  });

  it("name the record that amends or supersedes them", () => {
    expect(changes.length).toBeGreaterThan(15);
    const unsaid = changes.filter(({ newer, older }) => !linked(statuses.get(older) ?? "").includes(newer));
    expect(unsaid).toEqual([]);
  });

  it("name the ones that they were amended or superseded by in a record that says so", () => {
    const claims = [...statuses].flatMap(([older, status]) =>
      [...status.matchAll(/\b(?:superseded(?: in part| in its means)?|amended) by ((?:\[\d{3}\]\([^)]*\)(?:, )?)+)/gi)]
        .flatMap(([, links = ""]) => linked(links))
        .map((newer) => ({ newer, older })),
    );
    expect(claims.length).toBeGreaterThan(5);
    const unsaid = claims.filter(({ newer, older }) => !linked(statuses.get(newer) ?? "").includes(older));
    expect(unsaid).toEqual([]);
  });
});
