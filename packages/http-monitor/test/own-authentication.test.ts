import { expect, test } from "vitest";
import type { Authenticate } from "../src/index.ts";
import { answer, makeBridge, startMonitor } from "./monitor.ts";

test("an authentication of the program's own opens the views to whoever may read; probes stay open", async () => {
  const authenticate: Authenticate = async ({ req }) => {
    const name = req.header("as");
    return name === undefined ? undefined : { name, permissions: name === "reader" ? ["read"] : ["route.pause"] };
  };
  await using monitor = await startMonitor(makeBridge().supervisor, { keys: undefined, authenticate });
  const get = (as?: string) =>
    answer(monitor.get("monitor/topology", undefined, as === undefined ? {} : { headers: { as } }));
  expect(await get("reader")).toMatchObject([200, { instance_id: expect.any(String) as string }]);
  expect(await get("other")).toEqual([
    403,
    { error: '"other" may not do this: it needs read', reason: "permission", needs: "read" },
  ]);
  expect(await get()).toEqual([401, { error: "not authenticated" }]);
  expect((await monitor.get("monitor/live")).status).toBe(200);
  expect(monitor.events).toMatchObject([
    { action: "auth.failure", actor: "other", resource_type: "monitor", detail: { status: 403, needs: "read" } },
    { action: "auth.failure", actor: "127.0.0.1", resource_type: "monitor" },
  ]);
});

test("a monitor has keys or an authentication of the program's own", async () => {
  await expect(startMonitor(undefined, { keys: undefined })).rejects.toThrow("needs keys or a function authenticate");
  const authenticate: Authenticate = () => undefined;
  await expect(startMonitor(undefined, { authenticate })).rejects.toThrow("and not both");
});

test("keys and authenticate of another kind are refused by name", async () => {
  const start = (options: object) => startMonitor(undefined, options);
  await expect(start({ keys: null })).rejects.toThrow("keys is null");
  await expect(start({ keys: undefined, authenticate: null })).rejects.toThrow("authenticate is null");
});
