// Secrets of each kind, made up: none was ever issued.
/** Characters of no order, the same in every run; in two halves, so that no scanner takes this file for a leak. */
const CHARACTERS = "q7Zm2Kx9Rb4Tn6Wd8Ys3Vc5Hf1Jg0Lp" + "EuAoIiNtSrCkMwPvBzDyFxGqQhUjOe7";
export const random = (length: number): string => CHARACTERS.repeat(6).slice(0, length);
const hex = (length: number): string => "9f3a1c7e0b5d2846".repeat(10).slice(0, length);
const upper = (length: number): string => "Q7ZK2RT4NW6DYV3CHF5JGLPEUA".repeat(3).slice(0, length);

/** Kinds by what they begin with; each is made here. */
export const MADE_SECRETS: readonly (readonly [rule: string, secret: string])[] = [
  ["anthropic", `sk-ant-api03-${random(93)}`],
  ["openrouter", `sk-or-v1-${hex(64)}`],
  ["openai", `sk-proj-${random(120)}`],
  ["openai", `sk-${random(48)}`],
  ["stripe", `sk_live_${random(24)}`],
  ["google-api-key", `AIza${random(35)}`],
  ["google-oauth", `GOCSPX-${random(28)}`],
  ["aws-key-id", `AKIA${upper(16)}`],
  ["github", `ghp_${random(36)}`],
  ["github", `github_pat_${random(22)}_${random(59)}`],
  ["gitlab", `glpat-${random(20)}`],
  ["slack", `xoxb-${"1234567890-".repeat(2)}${random(24)}`],
  ["groq", `gsk_${random(52)}`],
  ["xai", `xai-${random(80)}`],
  ["huggingface", `hf_${random(34)}`],
  ["npm", `npm_${random(36)}`],
  ["pypi", `pypi-AgEIcHlwaS5vcmc${random(70)}`],
  ["sendgrid", `SG.${random(22)}.${random(43)}`],
  ["twilio", `SK${hex(32)}`],
  ["telegram", `123456789:AA${random(33)}`],
  ["digitalocean", `dop_v1_${hex(64)}`],
  ["shopify", `shpat_${hex(32)}`],
  ["vault", `hvs.${random(28)}`],
  ["terraform", `.atlasv1.${random(67)}`],
  ["azure-storage", `AccountKey=${random(86)}==`],
  ["jwt", `eyJ${random(20)}.eyJ${random(40)}.${random(43)}`],
];
