// Sessions that are more than one file: one with a second beside it, and those that are many small ones.

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
