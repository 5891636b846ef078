// Gives each secret its mask: a short word that says its kind and its number, and nothing of the secret itself.
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { meantText, sampleOf, writtenForms } from "../../core/secrets/mask.ts";
import { fingerprintOf } from "../secrets/scan-source.ts";
import { acrossSeam } from "./left-texts.ts";

/** Which secrets are masked: what rules find, or what some of them do, and texts that somebody names. */
export interface WantedSecrets {
  /** Names of rules; none = all. */
  readonly rules: readonly string[];
  readonly texts: readonly string[];
  /** Fingerprints of secrets that the user lets pass. */
  readonly allowed: readonly string[];
  /** Names of rules whose finds pass this once; absent = none. */
  readonly passing?: readonly string[];
  /** What was `given` in an earlier copy; absent = nothing. */
  readonly given?: GivenMasks;
}

/** A secret that is masked; nothing of it is in here but what may be shown. */
export interface MaskedSecret {
  readonly rule: string;
  readonly sample: string;
  readonly fingerprint: string;
  /** What stands in its place. */
  readonly mask: string;
  /** How many times rules found it. */
  readonly count: number;
  /** Where it was found first: a path of the tree, or `commit ID`. */
  readonly path: string;
  /** 0-based; absent where that is no turn. */
  readonly turn?: number;
}

/** Masks by fingerprint of the secret, however its lines end. */
export type GivenMasks = Readonly<Record<string, string>>;

/** Whether a path is of the agent's own bytes. */
export function isSourcePath(path: string): boolean {
  return path.startsWith("sources/");
}

/** Masks of a conversation that was redacted before stay its own: the numbers go on behind them. */
export function keepNumbers(text: string, numbers: Map<string, number>): void {
  for (const [, rule = "", number] of text.matchAll(/redacted-([a-z0-9-]+?)-(\d{1,9})(?!\d)/g))
    numbers.set(rule, Math.max(numbers.get(rule) ?? 0, Number(number)));
}

/** The masks in a text, as often as they stand there. */
export function masksIn(text: string): readonly string[] {
  return text.match(/redacted-[a-z0-9-]+?-\d{1,9}(?!\d)/g) ?? [];
}

/** Those of the secrets whose masks stand in masked texts: what is told of what was handed over. */
export function standingIn(secrets: readonly MaskedSecret[], texts: readonly string[]): readonly MaskedSecret[] {
  const masks = new Set(texts.flatMap(masksIn));
  return secrets.filter(({ mask }) => masks.has(mask));
}

/** A find, and where it is. */
export interface FoundPlace {
  readonly rule: string;
  readonly secret: string;
  readonly path: string;
}

/** The secrets that are masked, in the order in which they were found. */
export interface MaskList {
  readonly masks: ReadonlyMap<string, string>;
  add(found: FoundPlace): void;
  /** Adds how the secrets read elsewhere that stand where two parts meet. */
  addAcross(seams: readonly (readonly [string, string])[]): void;
  secrets(): readonly MaskedSecret[];
  given(): GivenMasks;
}

/** Begins a list; `numbers` = the highest number of each kind that is taken. */
export function createMaskList(
  { rules, allowed, passing = [], given: earlier = {} }: WantedSecrets,
  numbers: Map<string, number>,
): MaskList {
  for (const mask of Object.values(earlier)) keepNumbers(mask, numbers);
  const masks = new Map<string, string>();
  const secrets = new Map<string, MaskedSecret>();
  const isWanted = ({ rule, secret }: FoundPlace): boolean => {
    if (rule === "text") return true;
    if (allowed.includes(fingerprintOf(secret)) || passing.includes(rule)) return false;
    return rules.length === 0 || rules.includes(rule);
  };
  return {
    masks,
    secrets: () => [...secrets.values()],
    given: () => Object.fromEntries([...secrets].map(([same, { mask }]) => [fingerprintOf(same), mask])),
    addAcross(seams) {
      for (const [secret, mask] of [...masks])
        for (const seam of seams) for (const form of acrossSeam(seam, secret)) masks.set(form, mask);
    },
    add(found) {
      if (!isWanted(found)) return;
      const { rule, secret, path } = found;
      const plain = meantText(secret)?.text ?? secret;
      // A key is the same however its lines end.
      const same = plain.replace(/\s+/g, "");
      const known = secrets.get(same);
      const mask = known?.mask ?? earlier[fingerprintOf(same)] ?? nextMask(rule, numbers);
      const turn = turnIndexOfPath(path);
      const place = turn === null ? { path } : { path, turn };
      const fresh = { rule, sample: sampleOf(secret), fingerprint: fingerprintOf(secret), mask, count: 0, ...place };
      // Where it stays counts more than the agent's own line of it.
      const shown = known === undefined || (isSourcePath(known.path) && !isSourcePath(path)) ? fresh : known;
      secrets.set(same, { ...shown, count: (known?.count ?? 0) + 1 });
      const forms = rule === "text" ? [secret, plain].flatMap(writtenForms) : [secret, plain];
      for (const form of forms) addForm(masks, form, { rule, mask });
    },
  };
}

/** A shorter password is a word, too: it is one only where it stands in an address or a login. Characters. */
const SHORT = 8;
/** What stands before and behind it there, by the rule that finds it. */
const AROUND: Readonly<Partial<Record<string, readonly [string, string]>>> = {
  "url-credentials": [":", "@"],
  "curl-login": [":", ""],
};

function addForm(masks: Map<string, string>, form: string, { rule, mask }: { rule: string; mask: string }): void {
  const [before, behind] = (form.length < SHORT ? AROUND[rule] : undefined) ?? ["", ""];
  masks.set(before + form + behind, before + mask + behind);
}

function nextMask(rule: string, numbers: Map<string, number>): string {
  const kind = rule.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const number = (numbers.get(kind) ?? 0) + 1;
  numbers.set(kind, number);
  return `redacted-${kind}-${number}`;
}
