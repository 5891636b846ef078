// No id is made of a secret, however the request holds it; a session that was imported before keeps its id.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { titleForId } from "../../../src/app/names/conversations.ts";
import { titleOfRequest } from "../../../src/core/conversation/marks.ts";
import { slugOf } from "../../../src/core/conversation/name.ts";
import { MADE_SECRETS, random } from "../../helpers/made-secrets.ts";
import { buildSession } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

const slugFor = async (request: string): Promise<string> => slugOf(await titleForId(titleOfRequest(request)));

describe("the title that an id is made of", () => {
  it.each(MADE_SECRETS)("has nothing of a secret: %s", async (_, secret) => {
    // In front, after words, and where the title is cut in it.
    for (const before of ["", "use ", "deploy harbour with ", `${"wall ".repeat(8)}`]) {
      const slug = await slugFor(`${before}${secret} please`);
      const end = slugOf(secret.slice(-12));
      const middle = slugOf(secret.slice(secret.length / 2, secret.length / 2 + 8));
      expect(slug).not.toContain(end);
      expect(slug).not.toContain(middle);
    }
  });

  it("keeps the words around it, and whatever is no secret", async () => {
    expect(await slugFor(`clone https://kim:hV7@q2Lm9x@harbour.org/tide`)).toBe("clone-https-kim-harbour-org-tide");
    expect(await slugFor(`my password: hV7q2Lm9xT, go on`)).toBe("my-password-go-on");
    expect(await slugFor(`ghp_${random(36)}`)).toBe("conversation");
    for (const plain of ["Fix src/parser2.ts in 3f2504e0-4f89", "Upgrade to node20.19.1", "x".repeat(90)])
      expect(await titleForId(titleOfRequest(plain))).toBe(titleOfRequest(plain));
  });
});

describe("an import", () => {
  let workspace: GitWorkspace;
  beforeEach(async () => {
    workspace = await createGitWorkspace();
  });
  afterEach(() => removeWorkspace(workspace));

  it("makes the same id each time, and finds a session again that has the id of an earlier jpg", async () => {
    const token = `ghp_${random(36)}`;
    const text = buildSession(["prompt", "say"]).text().toString().replaceAll("request 0", `use ${token} to push`);
    const { branch, id } = await importBytes(workspace, Buffer.from(text));
    expect(branch).toMatch(/^use-to-push-[a-z0-9]{4}\/main$/);
    const former = slugOf(`use ${token} to push`);
    const run = (...args: string[]): string => git(workspace.store.root, workspace.temp.env, args);
    run("branch", "-m", branch, `${former}${id.slice(-5)}/main`);
    const again = await importBytes(workspace, Buffer.from(text));
    expect(again).toMatchObject({ status: "unchanged", branch: `${former}${id.slice(-5)}/main` });
  });
});
