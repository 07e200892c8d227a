import { Agent } from "node:http";
import { freePort } from "@bridge/tooling/listening";
import { expect, test } from "vitest";
import { webToWeb } from "./support/documents.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { countsOf, post, traffic } from "./support/traffic.ts";
import { until } from "./support/until.ts";

const COMMITS = 15;
const CALLERS = 8;

const CHANGES: readonly (readonly [what: string, change: (i: number) => object])[] = [
  ["the window", (i) => ({ routes: [{ id: "only", policy: { max_in_flight: 100 + i } }] })],
  ["the attempts", (i) => ({ routes: [{ id: "only", policy: { max_replay_attempts: 5 + i } }] })],
  ["a binding's address", (i) => ({ bindings: [{ id: "to-out", address: `/${i}` }] })],
];

test.for(CHANGES)(
  "commits that change %s of a route lose no caller of its HTTP receiver, nor a connection",
  { timeout: 60_000 },
  async ([, change]) => {
    await using target = await Target.open("accepts");
    const port = await freePort();
    await using stage = await Stage.run(webToWeb(target.url, { addr: `127.0.0.1:${port}` }));
    const commits = async (): Promise<void> => {
      for (let i = 1; i <= COMMITS; i++) expect(await stage.commit(change(i))).toMatchObject({ status: 200 });
    };
    const over = new AbortController();
    const [{ outcomes, connections }] = await Promise.all([
      traffic(port, CALLERS, over.signal),
      commits().finally(() => over.abort()),
    ]);
    expect(countsOf(outcomes)).toEqual({ 202: outcomes.length });
    expect(target.accepted).toHaveLength(outcomes.length);
    expect(connections).toBe(CALLERS);
  },
);

test("what comes while a route settles for its successor waits for that, and is answered by it", async () => {
  await using target = await Target.open("hangs");
  const port = await freePort();
  await using stage = await Stage.run(webToWeb(target.url, { addr: `127.0.0.1:${port}` }));
  const agent = new Agent({ keepAlive: true });
  const inFlight = post(port, agent, "in flight");
  await until(
    "asked",
    () => target.asked === 1,
    () => target.asked,
  );
  const committing = stage.commit({ routes: [{ id: "only", policy: { max_in_flight: 7 } }] });
  const isSwapping = (): boolean => stage.bridge.log.some(({ to }) => to === "swapping");
  await until("swapping", isSwapping, () => stage.bridge.log.length);
  const inBetween = post(port, agent, "in between");
  target.manner = "accepts";
  expect(await Promise.all([inFlight, inBetween])).toEqual(["202", "202"]);
  expect(await committing).toMatchObject({ status: 200 });
  expect(target.accepted).toEqual(expect.arrayContaining(["in flight", "in between"]));
  agent.destroy();
});
