// Paths of folders as sessions, settings and people write them, from any system: `C:\x`, `C:/x`, `/c/x`, `/mnt/c/x`, `\\?\C:\x` and
// `\\server\share\x` are Windows', and macOS writes an accented letter as one character or as two. Pure: looks at no disk.

/** A folder of a Windows machine. */
interface WindowsFolder {
  /** The letter of a drive, or the server of a share. */
  readonly drive: string;
  readonly isShare: boolean;
  /** Names of folders below the drive or server, the share first. */
  readonly names: readonly string[];
}

const DRIVE = /^(?:[/\\]{2}[?.][/\\])?([A-Za-z]):(?:[/\\]+|$)(.*)$/;
/** Drives as WSL, Git Bash and Cygwin write them. */
const MOUNTED = /^\/(?:mnt\/|cygdrive\/)?([A-Za-z])\/+(.+)$/;
const SHARE = /^(?:[/\\]{2}\?[/\\]UNC[/\\]|[/\\]{2})([^/\\?.]+|[^/\\]{2,})[/\\]+(.+)$/;

/** Parses a folder of a Windows machine in any notation; null for others. */
export function parseWindows(path: string): WindowsFolder | null {
  const onDrive = DRIVE.exec(path) ?? MOUNTED.exec(path);
  const [, drive, rest] = onDrive ?? SHARE.exec(path) ?? [];
  if (drive === undefined || rest === undefined) return null;
  return {
    drive,
    isShare: onDrive === null,
    names: rest.split(/[/\\]+/).filter((name) => name !== "" && name !== "."),
  };
}

/** Whether a path is in a notation that only Windows has. */
export function isWindowsPath(path: string): boolean {
  return /^(?:[A-Za-z]:(?:[/\\]|$)|\\\\)/.test(path);
}

/** A key that is equal for all notations of a folder: Windows ignores case, and no system tells the forms of a letter apart. */
export function folderKey(path: string): string {
  const folder = parseWindows(path);
  const key = folder === null ? path : [folder.isShare, folder.drive, ...folder.names].join("\\").toLowerCase();
  return key.normalize("NFC");
}

/** A key that is equal for all spellings of a path under which a system keeps one file. `platform`: the system's name in node. */
export function localKey(path: string, platform: string | undefined): string {
  if (platform === "win32") return folderKey(path);
  // Volumes of macOS that tell cases apart are rare, and two files there that differ by nothing else rarer.
  return platform === "darwin" ? path.normalize("NFC").toLowerCase() : path;
}

/** Whether two written paths name one folder on a system. */
export function isSameFolder(one: string, other: string, platform: string | undefined): boolean {
  const keyOf = (path: string): string => localKey(withoutEnd(localFolder(path, platform)), platform);
  return keyOf(one) === keyOf(other);
}

/**
 * Returns a path as programs of this system write it: on Windows `/c/x` as `C:\x`; elsewhere `C:\x` as `/mnt/c/x`, where WSL has it.
 * Other paths stay as they are.
 */
export function localFolder(path: string, platform: string | undefined): string {
  const folder = parseWindows(path);
  if (folder === null || (platform !== "win32" && (!isWindowsPath(path) || folder.isShare))) return path;
  const { drive, isShare, names } = folder;
  if (platform !== "win32") return ["", "mnt", drive.toLowerCase(), ...names].join("/");
  return isShare
    ? `\\\\${[drive, ...names].join("\\")}`
    : [`${drive.toUpperCase()}:`, ...(names.length === 0 ? [""] : names)].join("\\");
}

/** The spellings under which an agent may have been given a path; the path itself first. */
export function spellingsOf(path: string): readonly string[] {
  const forms = isWindowsPath(path)
    ? [
        path.slice(0, 1).toUpperCase() + path.slice(1),
        path.slice(0, 1).toLowerCase() + path.slice(1),
        path.toLowerCase(),
      ]
    : [path.normalize("NFC"), path.normalize("NFD")];
  return [...new Set([path, ...forms])];
}

/** A path without the separators at its end. */
export function withoutEnd(path: string): string {
  return path.replace(/[/\\]+$/, "");
}
