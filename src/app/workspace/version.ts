// The version of this jpg, for those it talks to; the build puts it in.

declare const JPG_VERSION: string;

/** E.g. `0.1.0`; `0.0.0` when run from source. */
export const version: string = typeof JPG_VERSION === "string" ? JPG_VERSION : "0.0.0";
