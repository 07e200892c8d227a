import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, probe } from "./support/ask.ts";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const NONE_LEFT =
  "the process has no file descriptor left: nobody can connect, and no file can be opened: " +
  "allow more (ulimit -n, LimitNOFILE=, --ulimit nofile=), or fewer connections";
const noLimits = spawnSync("prlimit", ["--version"]).status !== 0;

/** Connections that nobody says anything over. */
async function crowd(url: string, size: number): Promise<Disposable> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: size }, (): Socket => connect(Number(port), hostname).on("error", () => {}));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return { [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()) };
}

describe.skipIf(noLimits)("a bridge that has no file descriptor left (needs prlimit)", () => {
  test("says so, once, and what to do; it goes on when there are some", async () => {
    folder.write("bridge.yaml", INSIDE);
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    const isReady = () =>
      eventually(
        () => probe(monitor, "ready"),
        ({ status }) => status === 200,
      );
    await isReady();
    const open = readdirSync(`/proc/${bridge.pid}/fd`).length;
    execFileSync("prlimit", ["--pid", String(bridge.pid), `--nofile=${open + 5}:`]);
    {
      // Whatever the process had open for a moment only: more than it may have.
      using _ = await crowd(monitor, open + 40);
      expect(await bridge.logged(NONE_LEFT)).toMatchObject({ level: "error", code: "EMFILE" });
    }
    await bridge.logged("there are file descriptors again");
    await isReady();
    expect(bridge.log.filter(({ msg }) => msg === NONE_LEFT)).toHaveLength(1);
  });
});
