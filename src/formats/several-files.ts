// Sessions that are more than one file: one with a second beside it, those that are many small ones, and those that go on from what
// another file holds.
import type { SessionSource } from "./session-source.ts";

/** A file beside a session's, of its name with another ending, that is read with it, and stored with it. */
export interface CompanionRule {
  /** How the name of the session's file ends. */
  readonly session: string;
  /** How that of the second one ends. */
  readonly companion: string;
}

/** Sessions that are many small files, of which one describes the session: that one is found and named. */
export interface ScatterRule {
  /** The files of the session that a path describes, absolute, that one first; null for any other path. */
  list(folders: FolderReader, path: string): readonly string[] | null;
  /** Joins them to the text that is read and stored, in which their texts stand as they are. */
  join(files: readonly ScatteredFile[]): string;
}

/** One of many files of a session. */
export interface ScatteredFile {
  /** From the folder that all of them are in, `/` between names. */
  readonly path: string;
  /** Null where it was gone by the time it was read, or is no regular file. */
  readonly text: string | null;
}

/** What paths are made of, and what stands in folders. */
export interface FolderReader {
  /** Joins names to a path as this system writes it. */
  join(...names: string[]): string;
  /** The names in a folder, ordered; none where there is no folder. Never throws. */
  namesIn(path: string): readonly string[];
}

/** Files that go on from the beginning of another one, which stays where it is: both are read, and stored, as one text. */
export interface BaseRule {
  /** The file that one goes on from; null for one that is whole by itself. Never throws. */
  of(source: SessionSource): SessionBase | null;
  /** Where that file is, absolute; null where it is not to be found. `path` = the file that goes on from it. */
  find(machine: BasePlaces, path: string, base: SessionBase): string | null;
  /** How many bytes of a file stand before what it goes on from; the others stand behind it. */
  ownFirst(own: SessionSource, base: SessionSource): number;
}

/** What a file goes on from. */
export interface SessionBase {
  /** The file's id, of hexadecimal digits and `-`: it stands in its name. */
  readonly file: string;
  /** So much of its beginning, > 0, up to the end of a line. */
  readonly byteLength: number;
}

/** Where files are looked for. */
export interface BasePlaces extends FolderReader {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
}
