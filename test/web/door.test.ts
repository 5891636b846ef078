// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AccessControl, type AccessRequest } from "../../src/web/serve.ts";
import { anyPath } from "../helpers/any-text.ts";

const TOKEN = "t".repeat(32);
const SECRET = "s".repeat(32);
const FOLDER = "f".repeat(16);

function createAccess(): AccessControl {
  return new AccessControl({
    hosts: ["127.0.0.1:4747", "localhost:4747"],
    cookieName: "jpg-4747",
    folder: FOLDER,
    secret: SECRET,
    token: TOKEN,
  });
}

function requestOf(fields: Partial<AccessRequest> = {}): AccessRequest {
  return { method: "GET", url: `/${FOLDER}/`, host: "127.0.0.1:4747", origin: undefined, cookie: undefined, ...fields };
}

const COOKIE = `other=1; jpg-4747=${SECRET}`;

describe("the access control of jpg serve", () => {
  it("lets in whoever has the cookie, and nobody else", () => {
    expect(createAccess().admit(requestOf({ cookie: COOKIE }))).toEqual({ kind: "in", url: "/" });
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), anyPath(), (value, path) => {
        fc.pre(value.trim() !== SECRET);
        const outcome = createAccess().admit(requestOf({ url: `/${FOLDER}${path}`, cookie: `jpg-4747=${value}` }));
        expect(outcome).toMatchObject({ kind: "refused", status: 403 });
      }),
    );
  });

  it("gives the cookie for the printed address, once, and sends on to its page without the token", () => {
    const access = createAccess();
    expect(access.admit(requestOf({ url: `/${FOLDER}/c/a%2Fmain?token=${TOKEN}` }))).toEqual({
      kind: "enter",
      path: `/${FOLDER}/c/a%2Fmain`,
    });
    expect(access.cookie).toBe(`jpg-4747=${SECRET}; Path=/${FOLDER}/; HttpOnly; SameSite=Strict`);
    for (const url of [`/${FOLDER}/?token=${TOKEN}`, `/${FOLDER}/?token=wrong`])
      expect(access.admit(requestOf({ url }))).toMatchObject({ kind: "refused", status: 403 });
    for (const url of [`/?token=${TOKEN}`, `//evil.example/?token=${TOKEN}`, `/${FOLDER}?token=${TOKEN}`])
      expect(createAccess().admit(requestOf({ url }))).toMatchObject({ kind: "refused", status: 403 });
  });

  it("lets nobody in outside its folder, whose name a server on another port does not know", () => {
    fc.assert(
      fc.property(anyPath(), (path) => {
        fc.pre(!path.startsWith(`/${FOLDER}/`));
        expect(createAccess().admit(requestOf({ url: path, cookie: COOKIE }))).toMatchObject({
          kind: "refused",
          status: 403,
        });
      }),
    );
  });

  it("answers to its own names only, whatever cookie comes with another", () => {
    for (const host of ["evil.example:4747", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:4747.evil.example", undefined])
      expect(createAccess().admit(requestOf({ host, cookie: COOKIE }))).toMatchObject({ kind: "refused", status: 421 });
    expect(createAccess().admit(requestOf({ host: "LOCALHOST:4747", cookie: COOKIE }))).toEqual({
      kind: "in",
      url: "/",
    });
  });

  it("takes what changes something from its own pages only", () => {
    const post = { method: "POST", url: `/${FOLDER}/c/a%2Fmain/title`, cookie: COOKIE };
    for (const origin of [undefined, "null", "https://evil.example", "http://localhost:4747", "https://127.0.0.1:4747"])
      expect(createAccess().admit(requestOf({ ...post, origin }))).toMatchObject({ kind: "refused", status: 403 });
    expect(createAccess().admit(requestOf({ ...post, origin: "http://127.0.0.1:4747" }))).toEqual({
      kind: "in",
      url: "/c/a%2Fmain/title",
    });
  });
});
