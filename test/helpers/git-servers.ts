// Servers as hosts have them, on loopback: sshd with throw-away keys, and git's own daemon.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";

/** A server that runs until it is closed. */
export interface RunningServer {
  /** The address that a path on this machine, or below the served folder, is appended to. */
  readonly url: string;
  close(): Promise<void>;
}

export interface SshServer extends RunningServer {
  /** The value of GIT_SSH_COMMAND for who has the right key and knows the host; `changes` are options of ssh that count first. */
  command(...changes: string[]): string;
  /** Folder of keys: `client`, `stranger` (let in nowhere), `known_hosts`, `other_hosts` (of another key), `authorized_keys`. */
  readonly keys: string;
}

const SSHD = "/usr/sbin/sshd";

/** Why there is no sshd here; null when there is one. */
export const sshdMissing: string | null =
  existsSync(SSHD) && spawnSync("ssh", ["-V"]).status === 0 ? null : "no sshd; apt-get install openssh-server";

/** Starts sshd for the user who runs it, with keys made in a folder. */
export async function startSshServer(folder: string): Promise<SshServer> {
  const port = await freePort();
  const at = (name: string): string => join(folder, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const name of ["host", "other", "client", "stranger"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", at(name)]);
  const publicKey = (name: string): string => readFileSync(at(`${name}.pub`), "utf8");
  writeFileSync(at("authorized_keys"), publicKey("client"), { mode: 0o600 });
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${publicKey("host")}`);
  writeFileSync(at("other_hosts"), `[127.0.0.1]:${port} ${publicKey("other")}`);
  const settings = [
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${at("host")}`, "PidFile none"],
    ...[`AuthorizedKeysFile ${at("authorized_keys")}`, "StrictModes no", "UsePAM no", "PermitRootLogin yes"],
    ...["PasswordAuthentication no", "KbdInteractiveAuthentication no"],
  ];
  writeFileSync(at("sshd_config"), `${settings.join("\n")}\n`);
  // Where sshd of root confines those who have not logged in yet.
  if (process.geteuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const close = await start(SSHD, ["-D", "-e", "-f", at("sshd_config")], port);
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    keys: folder,
    command: (...changes) => {
      const own = [`UserKnownHostsFile=${at("known_hosts")}`, "IdentitiesOnly=yes", "IdentityAgent=none"];
      // Keys add up: another one would be tried beside this.
      const key = changes.some((change) => change.startsWith("IdentityFile=")) ? [] : [`IdentityFile=${at("client")}`];
      const options = [
        ...changes,
        ...own,
        ...key,
        "StrictHostKeyChecking=yes",
        "BatchMode=yes",
        "GlobalKnownHostsFile=/dev/null",
      ];
      return `ssh -F /dev/null ${options.map((option) => `-o ${option}`).join(" ")}`;
    },
    close,
  };
}

/** Starts `git daemon` for the repositories below a folder; `writable` = also for pushes. */
export async function startGitDaemon(
  folder: string,
  { writable }: { readonly writable: boolean },
): Promise<RunningServer> {
  const port = await freePort();
  const flags = ["--reuseaddr", "--export-all", "--listen=127.0.0.1", `--port=${port}`, `--base-path=${folder}`];
  const daemon = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-daemon");
  const close = await start(daemon, [...flags, ...(writable ? ["--enable=receive-pack"] : []), folder], port);
  return { url: `git://127.0.0.1:${port}`, close };
}

async function start(program: string, args: readonly string[], port: number): Promise<() => Promise<void>> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  for (let tries = 0; !(await answers(port)); tries++) {
    if (child.exitCode !== null || tries > 4000) throw new Error(`${program} did not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return () => end(child);
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve();
    child.on("exit", () => resolve());
    child.kill();
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    const say = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on("connect", () => say(true)).on("error", () => say(false));
  });
}

/** Below the ports that a system gives to whoever asks for any: none of the tests' other servers takes it meanwhile. */
const OWN_PORTS = { first: 20_000, count: 12_000 };

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const port = OWN_PORTS.first + Math.floor(Math.random() * OWN_PORTS.count);
    const server = createServer();
    server.on("error", () => resolve(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
}
