import { expect, test } from "vitest";
import { start } from "./support/start.ts";

test.each(["express", "fastify", "nestjs"])(
  "the two servers in %s: bodies get to them, and parsers to others",
  async (framework) => {
    await using program = start(`mounted/${framework}.ts`, {});
    const [url] = await program.printed(/http:\S+/);
    const call = async (path: string, body?: object): Promise<readonly [number, unknown]> => {
      const answer = await fetch(`${url}${path}`, {
        headers: { "X-API-Key": "alice-has-a-long-key", "Content-Type": "application/json" },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      });
      return [answer.status, await answer.json()];
    };
    expect(await call("/bridge/api/v1/monitor/health")).toEqual([200, { status: "ok" }]);
    const order = { subject: "order", payload: btoa("three apples") };
    expect(await call("/bridge/api/v1/admin/routes/orders/inject", order)).toMatchObject([200, { status: "injected" }]);
    await program.printed(/three apples/);
    expect(await call("/bridge/api/v1/admin/dlq/redrive", { ids: ["none"] })).toMatchObject([207, { failed: 1 }]);
    expect(await call("/bridge/api/v1/admin/bridge/stop", {})).toMatchObject([200, { status: "stopped" }]);
    if (framework !== "nestjs") expect(await call("/echo", { a: 1 })).toEqual([200, { a: 1 }]);
    program.kill("SIGTERM");
    expect(await program.ended).toBe(0);
  },
);
