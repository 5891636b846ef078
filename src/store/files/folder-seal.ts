// Tells what jpg wrote in a folder from what came with it: a seal is a digest of the bytes and of what tells the folder from every
// other one, so that neither damage nor a store from somebody else brings anything of its own.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";

/** Makes the seal of some bytes in a folder: 64 hex digits. */
export function sealOf(folder: string, body: Uint8Array): string {
  return createHash("sha256")
    .update(`${placeOf(folder)}\n`)
    .update(body)
    .digest("hex");
}

/** What tells this folder from every other one, a copy of it too. One that is in memory is nobody else's. */
function placeOf(folder: string): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return "in memory";
  }
}
