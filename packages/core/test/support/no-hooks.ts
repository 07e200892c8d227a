import { silentLogger } from "@bridge/ports";
import { Hooks } from "../../src/hooks/hooks.ts";
import { FakeClock } from "./fake-clock.ts";

/** Those of a bridge whose program has given none. */
export const noHooks = new Hooks({
  hooks: undefined,
  clock: new FakeClock(),
  logger: silentLogger,
  veil: () => undefined,
  dlq: () => undefined,
});
