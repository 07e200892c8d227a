import { expect, test } from "vitest";
import { start } from "./support/start.ts";

test("NestJS: the bridge hands messages to a service, and ends with the application", async () => {
  await using app = start("nestjs/main.ts", {});
  await app.printed(/saved apple/);
  app.kill("SIGTERM");
  expect(await app.ended).toBe("SIGTERM");
  expect(app.stdout).toMatch(/Bridge.*stopped/);
});
