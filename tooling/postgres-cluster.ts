/**
 * A PostgreSQL server of a test's own, on a free port of loopback, for tests that stop it, freeze it or start it again.
 * Where its programs are not installed, what needs it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1. @module
 */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, getuid } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "./listening.ts";

/** For `describe.skipIf`: whether no server can be started. */
export const noPostgresCluster: boolean =
  env["BRIDGE_REQUIRE_BROKERS"] !== "1" && spawnSync(program("postgres"), ["--version"]).status !== 0;

const START_TIMEOUT_MS = 30_000;
const USER = "postgres";

/** How the server ends: `fast` as an operator ends it, `immediate` as a power cut does. */
export type Stop = "fast" | "immediate";

export class PostgresCluster implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  get url(): string {
    return `postgresql://${USER}@127.0.0.1:${this.port}/postgres`;
  }

  /** With these settings of its configuration besides those that make it small and quick. */
  static async start(settings: readonly string[] = []): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(tmpdir(), "bridge-postgres-"));
    const owner = unprivileged();
    if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid);
    chmodSync(folder, 0o700);
    const init = [
      "--no-sync",
      "--no-locale",
      "--auth=trust",
      "--encoding=UTF8",
      `--username=${USER}`,
      "--pgdata",
      folder,
    ];
    await promisify(execFile)(program("initdb"), init, { ...owner, cwd: folder });
    const port = await freePort();
    const cluster = new PostgresCluster(port, folder, launch(port, folder, settings));
    await cluster.#untilReady();
    return cluster;
  }

  async stop(how: Stop): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await ended;
  }

  /** After a {@link stop}, on the same port. */
  async restart(settings: readonly string[] = []): Promise<void> {
    this.#child = launch(this.port, this.#folder, settings);
    await this.#untilReady();
  }

  /** Takes connections with TLS, too, and presents these files in PEM form from then on. */
  async present({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> {
    const { uid, gid } = unprivileged();
    for (const [name, content] of Object.entries({ "server.crt": cert, "server.key": key })) {
      const file = join(this.#folder, name);
      writeFileSync(file, content);
      chmodSync(file, 0o600);
      if (uid !== undefined) chownSync(file, uid, gid ?? uid);
    }
    writeFileSync(join(this.#folder, "postgresql.auto.conf"), "ssl = on\n");
    this.#child.kill("SIGHUP");
    const wanted = new X509Certificate(cert).fingerprint256;
    for (const until = performance.now() + START_TIMEOUT_MS; (await this.#presented()) !== wanted; await delay(10)) {
      if (performance.now() > until) throw new Error("PostgreSQL has not taken its new certificate");
    }
  }

  async #presented(): Promise<string | undefined> {
    const client = new Client({ connectionString: this.url, ssl: { rejectUnauthorized: false } });
    client.on("error", () => {});
    try {
      await client.connect();
      return (client.connection.stream as TLSSocket).getPeerX509Certificate()?.fingerprint256;
    } catch {
      return undefined;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Stops all its processes: connections stay open, and nobody says anything. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  thaw(): void {
    this.#signal("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    await this.stop("immediate");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Each connection has a process, in a session of its own. The parent comes first, so that it starts no more. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    process.kill(pid, signal);
    for (const child of childrenOf(pid)) {
      try {
        process.kill(child, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  async #untilReady(): Promise<void> {
    for (const until = performance.now() + START_TIMEOUT_MS; ; await delay(20)) {
      const client = new Client({ connectionString: this.url });
      client.on("error", () => {});
      try {
        await client.connect();
        return;
      } catch (error) {
        if (this.#child.exitCode !== null || performance.now() > until) {
          await this[Symbol.asyncDispose]();
          throw new Error(`PostgreSQL does not listen on port ${this.port}`, { cause: error });
        }
      } finally {
        await client.end().catch(() => {});
      }
    }
  }
}

function launch(port: number, folder: string, settings: readonly string[]): ChildProcess {
  const all = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "fsync=off", // it outlives the processes of its server, which is all that tests end
    "shared_buffers=16MB",
    "max_connections=50",
    ...settings,
  ];
  const args = ["-D", folder, "-p", String(port), ...all.flatMap((setting) => ["-c", setting])];
  return spawn(program("postgres"), args, { ...unprivileged(), cwd: folder, stdio: "ignore" });
}

/** The server refuses to run as root: its own user does then. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (getuid?.() !== 0) return {};
  const [uid, gid] = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([name]) => name === USER)
    .map(([, , ...ids]) => ids.map(Number))[0] ?? [65_534, 65_534];
  return { uid: uid ?? 65_534, gid: gid ?? 65_534 };
}

/** Its name, or its path where it is installed beside the PATH, as on Debian. */
function program(name: string): string {
  const there = spawnSync(name, ["--version"]).error === undefined;
  const folder = there ? "" : spawnSync("pg_config", ["--bindir"], { encoding: "utf8" }).stdout?.trim();
  return folder ? join(folder, name) : name;
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in parentheses may hold anything.
    return Number(
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) \S /, "")
        .split(" ")[0],
    );
  } catch {
    return undefined;
  }
}
