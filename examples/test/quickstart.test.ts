import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePorts } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { openBroker } from "./support/broker.ts";
import { Program } from "./support/program.ts";

const START = fileURLToPath(new URL("../quickstart/start.ts", import.meta.url));
const CURL = fileURLToPath(new URL("support/curl.ts", import.meta.url));

function start([broker, admin, monitor, target]: readonly number[]): Program {
  const flags = { broker, admin, monitor, target };
  return new Program(
    START,
    Object.entries(flags).flatMap(([name, port]) => [`--${name}`, String(port)]),
  );
}

/** Types a command into a shell; one where there is no curl gets a stand-in. */
async function type(command: string): Promise<unknown> {
  const shell = `command -v curl >/dev/null || curl() { "${process.execPath}" "${CURL}" "$@"; }\n${command}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", shell]);
  return JSON.parse(stdout);
}

describe("the quickstart", () => {
  test("messages flow, the printed commands work, and Ctrl-C ends everything", async () => {
    const ports = await freePorts(4);
    await using quickstart = start(ports);
    await quickstart.printed(/dlq\/redrive\n/);
    const [inject, list, redrive] = [...quickstart.stdout.matchAll(/^ {2}(curl .*)$/gm)].map((found) => found[1] ?? "");

    expect(await type(inject ?? "")).toMatchObject({ status: "injected" });
    const { messages } = (await type(list ?? "")) as { messages: readonly Record<string, unknown>[] };
    expect(messages[0]).toMatchObject({ route_id: "orders", category: "rejected", error_code: "SCHEMA_VIOLATION" });
    expect(await type(redrive ?? "")).toEqual({ redriven: 1, failed: 0 });

    await quickstart.printed(/published \d+ · readings [1-9]\d* · orders [1-9]\d* · DLQ [1-9]\d* · redriven 1/);
    quickstart.kill("SIGINT");
    expect(await quickstart.ended).toBe(0);
    expect(quickstart.stdout.endsWith("\nending\n")).toBe(true);
    expect(quickstart.stderr).toBe("");
    for (const port of ports) await (await listening(port))[Symbol.asyncDispose]();
  });

  test("two at one broker do not meet", async () => {
    await using broker = await openBroker();
    const port = Number(new URL(broker.url).port);
    const starting = Array.from({ length: 2 }, async () => start([port, ...(await freePorts(3))]));
    const [first, second] = await Promise.all(starting);
    await using one = first!;
    await using other = second!;
    const flows = /published (\d+) · readings ([1-9]\d*) · orders/g;
    for (const quickstart of [one, other]) {
      await quickstart.printed(/published 1\d · readings [1-9]\d* · orders [1-9]/);
      // Nothing comes from the other one's publisher.
      for (const [, published, readings] of quickstart.stdout.matchAll(flows))
        expect(2 * Number(readings)).toBeLessThanOrEqual(Number(published) + 2);
      quickstart.kill("SIGINT");
      expect(await quickstart.ended).toBe(0);
    }
  });

  test("one port for two is refused before anything starts", async () => {
    await using quickstart = start([17_883, 17_501, 17_501, 17_503]);
    expect(await quickstart.ended).toBe(1);
    expect(quickstart.stdout).toBe("");
    expect(quickstart.stderr).toContain("--admin and --monitor are both 17501");
  });

  test("a terminal that is closed ends everything too", async () => {
    const ports = await freePorts(4);
    await using quickstart = start(ports);
    await quickstart.printed(/dlq\/redrive\n/);
    quickstart.kill("SIGHUP");
    expect(await quickstart.ended).toBe(0);
    for (const port of ports) await (await listening(port))[Symbol.asyncDispose]();
  });

  test("finding 9.2: --help names every flag and starts nothing", async () => {
    await using quickstart = new Program(START, ["--help"]);
    expect(await quickstart.ended).toBe(0);
    for (const flag of ["--broker", "--admin", "--monitor", "--target"]) {
      expect(quickstart.stdout).toContain(`${flag} PORT`);
    }
  });

  test("a port that is taken is named, with what to do about it", async () => {
    const [broker = 0, monitor = 0, target = 0] = await freePorts(3);
    await using taken = await listening(0);
    await using quickstart = start([broker, taken.port, monitor, target]);
    expect(await quickstart.ended).toBe(1);
    expect(quickstart.stderr).toContain(`127.0.0.1:${taken.port} is taken`);
    expect(quickstart.stderr).toContain("npm start -- --admin PORT");
  });

  test("something that is no broker on the broker's port is named", async () => {
    await using deaf = await listening(0);
    await using quickstart = start([deaf.port, ...(await freePorts(3))]);
    expect(await quickstart.ended).toBe(1);
    expect(quickstart.stderr).toContain(`no MQTT broker answers at mqtt://127.0.0.1:${deaf.port}`);
  });
});

/** Something that takes connections and hangs up. */
async function listening(port: number): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
