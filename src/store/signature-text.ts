// Who did something and when, as git writes it in commits and reflogs.
import type { Signature } from "./conversation-store.ts";

/** Formats a signature as `Name <email> seconds +zone`; characters that git cannot hold there are removed. */
export function formatSignature({ name, email, seconds, offsetMinutes = 0 }: Signature): string {
  const plain = (text: string): string => text.replace(/[<>\u0000-\u001f\u007f]/g, "").trim();
  const sign = offsetMinutes < 0 ? "-" : "+";
  const minutes = Math.abs(Math.trunc(offsetMinutes));
  const zone = `${sign}${String(Math.floor(minutes / 60)).padStart(2, "0")}${String(minutes % 60).padStart(2, "0")}`;
  return `${plain(name)} <${plain(email)}> ${Math.max(0, Math.floor(seconds))} ${zone}`;
}
