// The words of a text that tell what it is about: what every text is full of is left out. For comparing texts with each
// other, never shown.

/** Words of prose, and of agents' prose, that tell nothing. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "about above after again all also and any are because been before being below between both but can cannot could did does " +
    "doing done down during each few first for from further get gets going good got great had has have having her here him " +
    "his how into its itself just keep know let lets like look looks made make makes may more most much must need needs new " +
    "nor not now off once one only other our out over own perfect please see should show since some still such sure take than " +
    "that the their them then there these they thing things this those through too two under until use used uses using very " +
    "want was way well were what when where which while who why will with work working would yes you your"
  ).split(" "),
);

const WORD = /[\p{L}_][\p{L}\p{N}_]{2,39}/gu;

/** Gives the telling words of a text in small letters, in order, repeats included; at most `limit`. Linear in the text. */
export function termsOf(text: string, limit: number = Number.POSITIVE_INFINITY): readonly string[] {
  const terms: string[] = [];
  WORD.lastIndex = 0;
  for (let match = WORD.exec(text); match !== null && terms.length < limit; match = WORD.exec(text)) {
    const term = match[0].toLowerCase();
    if (!COMMON.has(term)) terms.push(term);
  }
  return terms;
}
