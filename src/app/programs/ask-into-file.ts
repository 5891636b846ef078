// Asks a program whose answer is long. Some programs end before a pipe has taken all that they printed (64 KiB,
// then nothing): a file takes everything at once.
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { askProgram, type ProgramAnswer, type ProgramQuestion } from "./external-process.ts";

/** Asks a program for an answer of any length; the file that takes it is the user's alone, and gone afterwards. Never throws. */
export async function askIntoFile(question: Omit<ProgramQuestion, "maxBytes" | "answerFile">): Promise<ProgramAnswer> {
  const folder = await mkdtemp(join(question.env["TMPDIR"] ?? tmpdir(), "jpg-answer-"));
  const path = join(folder, "answer");
  const file = await open(path, "wx", 0o600);
  try {
    const answer = await askProgram({ ...question, maxBytes: 0, answerFile: file.fd });
    return "problem" in answer ? answer : { output: await readFile(path, "utf8") };
  } catch (error) {
    return { problem: `gave an answer that cannot be read: ${messageOf(error)}` };
  } finally {
    await file.close();
    await rm(folder, { recursive: true, force: true });
  }
}
