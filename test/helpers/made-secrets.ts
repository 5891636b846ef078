// Secrets of each kind, made up: none was ever issued. They are made of the examples of the forms when a test runs, so that no file
// here holds what a scanner takes for a leak.
import { ISSUER_FORMS, MIDDLE_FORMS } from "../../src/core/secrets/issuer-forms.ts";

/** Characters of no order, the same in every run; in two halves, so that no scanner takes this file for a leak. */
const CHARACTERS = "q7Zm2Kx9Rb4Tn6Wd8Ys3Vc5Hf1Jg0Lp" + "EuAoIiNtSrCkMwPvBzDyFxGqQhUjOe7";
export const random = (length: number): string => CHARACTERS.repeat(6).slice(0, length);

/** What the letters of an example stand for. */
const ALPHABETS: Readonly<Record<string, string>> = {
  w: CHARACTERS,
  h: "9f3a1c7e0b5d2846",
  u: "Q7ZK2RT4NW6DYV3CHF5JGLPEUA",
  l: "q7zm2kx9rb4tn6wd8ys3vc5hf1jg0lp",
  d: "7291640835",
  c: "qZmKxRbTnWdYsVcHfJgLpEuAoIiNtS",
  b: "Q7ZK2RT4NW6DYV3CHF5JGLPEUA",
  a: "Q7ZK2R4NW6DYV3CHF5JGLPEUA",
  e: "q7Zm2Kx9Rb4Tn6Wd8Ys3Vc5Hf1JgLpEu",
  n: "q7zm2kx9r4tn6wd8ys3vc5hfjglp",
  s: "$",
};

/** Makes a secret of an example of `issuer-forms.ts`: `{w24}` becomes 24 letters and digits, `{login}` a name and a password in base64. */
export function madeSecret(example: string): string {
  const login = Buffer.from(`kim:${random(12)}`).toString("base64");
  return example
    .replaceAll("{login}", login)
    .replace(/\{([a-z])(\d+)\}/g, (_, kind: string, length: string) =>
      (ALPHABETS[kind] ?? "").repeat(40).slice(0, Number(length)),
    );
}

/** Each form of each issuer, and a secret of that form. */
export const MADE_SECRETS: readonly (readonly [rule: string, secret: string])[] = [
  ...ISSUER_FORMS,
  ...MIDDLE_FORMS,
].flatMap(({ id, forms }) => Object.values(forms).map((example) => [id, madeSecret(example)] as const));
