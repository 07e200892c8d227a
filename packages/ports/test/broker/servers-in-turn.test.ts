import { expect, test } from "vitest";
import { ServersInTurn } from "../../src/broker/servers-in-turn.ts";
import { BridgeError } from "../../src/errors.ts";

const never = new AbortController().signal;
const BOUNDS = { signal: never, disposed: never, timeoutMs: 60_000 };

/** Connects to those that are up, and notes which were asked. */
function asking(servers: ServersInTurn<string>, up: readonly string[]) {
  const asked: string[] = [];
  const connected = servers.connect(BOUNDS, async (server) => {
    asked.push(server);
    if (up.includes(server)) return server;
    throw new BridgeError("CONNECTION_LOST", `${server} is away`);
  });
  return { asked, connected };
}

test("the one that was connected last is asked first", async () => {
  const servers = new ServersInTurn("server", ["a", "b", "c"]);
  expect(await asking(servers, ["b"]).connected).toBe("b");
  const { asked, connected } = asking(servers, ["a"]);
  expect(await connected).toBe("a");
  expect(asked).toEqual(["b", "c", "a"]);
});

test("when none is there the next attempt begins with another one", async () => {
  const servers = new ServersInTurn("server", ["a", "b"]);
  await expect(asking(servers, []).connected).rejects.toThrow("a is away; b is away");
  const { asked, connected } = asking(servers, ["b"]);
  await connected;
  expect(asked).toEqual(["b"]);
});

test("what one of them may mend by itself is the error of all", async () => {
  const servers = new ServersInTurn("server", ["refuses", "away"]);
  const connected = servers.connect(BOUNDS, async (server) => {
    throw new BridgeError(server === "away" ? "CONNECTION_LOST" : "FORBIDDEN", server);
  });
  await expect(connected).rejects.toMatchObject({ code: "CONNECTION_LOST", message: "refuses; away" });
});

test("who gives it up gets its own reason, and no other server is asked", async () => {
  const giving = new AbortController();
  const asked: string[] = [];
  const connected = new ServersInTurn("server", ["a", "b"]).connect(
    { ...BOUNDS, signal: giving.signal },
    async (server) => {
      asked.push(server);
      giving.abort(new Error("no more"));
      throw new Error("cut");
    },
  );
  await expect(connected).rejects.toThrow("no more");
  expect(asked).toEqual(["a"]);
});
