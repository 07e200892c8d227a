import { expect, test } from "vitest";
import { start } from "./support/start.ts";

test("hono: its own page, the monitor and the admin server answer, and SIGTERM ends all", async () => {
  await using server = start("hono/server.ts", { PORT: "0" });
  const [url] = await server.printed(/http:\S+/);
  await expect.poll(async () => (await json(`${url}/`)).body, { timeout: 30_000 }).not.toEqual({ latest: 0 });
  expect(await json(`${url}/watch/api/v1/monitor/health`)).toEqual({ status: 200, body: { status: "ok" } });
  expect(await json(`${url}/manage/api/v1/admin/bridge`)).toMatchObject({ status: 401 });
  const headers = { "X-API-Key": "alice-has-a-long-key" };
  expect(await json(`${url}/manage/api/v1/admin/bridge`, { headers })).toMatchObject({ body: { running: true } });
  server.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(server.stdout).toContain("stopped");
});

async function json(url: string, options?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(url, options);
  return { status: answer.status, body: await answer.json() };
}
