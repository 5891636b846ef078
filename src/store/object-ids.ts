// Object ids that mean something to git by themselves, SHA-1.

/** The id that means "no object". */
export const ZERO_ID: string = "0".repeat(40);
/** The id of the empty tree. */
export const EMPTY_TREE: string = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
