import { expect, it, vi } from "vitest";
import { systemClock } from "../src/system.ts";

it("the machine's clock tells what the process has used, in user and in system mode, in milliseconds", () => {
  using _ = vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 1_500, system: 250 });
  expect(systemClock.cpu?.()).toBe(1.75);
});
