// Whether two model names mean the same model: providers add dates, context sizes and routes to one name.

/** Parts of a name that do not tell models apart: route before the name, context size, version and date after it. */
const ROUTE = /^(?:[a-z0-9-]+[./])*(?=claude|gpt|gemini|o\d)/;
const SUFFIXES = /(?:\[[^\]]*\]|:\d+|-v\d+|@?-?\d{8}|-latest|-\d{4}-\d\d-\d\d)$/;

/** The name without route, context size, version and date, in lower case: `claude-sonnet-4-5-20250929` → `claude-sonnet-4-5`. */
export function modelFamily(model: string): string {
  let family = model.toLowerCase().replace(ROUTE, "");
  for (let shorter = family.replace(SUFFIXES, ""); shorter !== family; shorter = family.replace(SUFFIXES, "")) {
    family = shorter;
  }
  return family;
}

/** Whether two names mean the same model, so that reasoning of one may be sent to the other. */
export function isSameModelFamily(a: string, b: string): boolean {
  return modelFamily(a) === modelFamily(b);
}
