// Pieces of schemas that several tools share.
import * as z from "zod";

/** The conversation to look at. */
export const conversation: z.ZodOptional<z.ZodString> = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("Conversation or branch, as other tools name it; leave out for the one of this session.");

/** What was imported before the answer. */
export const imported: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What was imported first to bring the answer up to date; null if nothing was.");

export const tokenChange: z.ZodObject<{ before: z.ZodNumber; after: z.ZodNumber }> = z.object({
  before: z.number(),
  after: z.number(),
});
