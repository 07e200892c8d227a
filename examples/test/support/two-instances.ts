import process from "node:process";
import { freePorts } from "@bridge/tooling/listening";
import { vi } from "vitest";
import { Program } from "./program.ts";

const SOON = { timeout: 30_000, interval: 200 };

/** An example that starts two instances, a and b, of which one is active; on ports of their own. */
export class TwoInstances extends Program {
  /** Of the admin servers, a before b. */
  readonly admin: readonly string[];
  readonly #monitor: readonly string[];

  private constructor(start: string, [broker = "", adminA = "", monitorA = "", adminB = "", monitorB = ""]: string[]) {
    const flags = { broker, "admin-a": adminA, "monitor-a": monitorA, "admin-b": adminB, "monitor-b": monitorB };
    super(
      start,
      Object.entries(flags).flatMap(([name, port]) => [`--${name}`, port]),
    );
    this.admin = [adminA, adminB];
    this.#monitor = [monitorA, monitorB];
  }

  static async start(program: string): Promise<TwoInstances> {
    return new TwoInstances(program, (await freePorts(5)).map(String));
  }

  async divided(): Promise<void> {
    await vi.waitUntil(async () => (await this.#roles()).toSorted().join() === "active,standby", SOON);
  }

  /** Kills the active one; resolves when the other is active, and the one that was killed is back as its standby. */
  async killActive(): Promise<void> {
    const active = (await this.#roles()).indexOf("active");
    const [, pid = ""] = await this.printed(new RegExp(`${"ab"[active]} active full \\(pid (\\d+)\\)`));
    process.kill(Number(pid), "SIGKILL");
    await vi.waitUntil(async () => {
      const { role, level } = await this.#ready(1 - active);
      return role === "active" && level === "full";
    }, SOON);
    await this.printed(/has ended with SIGKILL/);
    await vi.waitUntil(async () => (await this.#ready(active))["role"] === "standby", SOON);
  }

  /** Nothing while it does not listen. */
  async #ready(instance: number): Promise<Readonly<Record<string, string>>> {
    const url = `http://127.0.0.1:${this.#monitor[instance]}/api/v1/monitor/ready?level=full`;
    try {
      return (await (await fetch(url)).json()) as never;
    } catch {
      return {};
    }
  }

  async #roles(): Promise<readonly string[]> {
    return (await Promise.all([this.#ready(0), this.#ready(1)])).map(({ role }) => role ?? "");
  }
}
