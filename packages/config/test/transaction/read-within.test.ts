import { BridgeError, systemClock } from "@bridge/ports";
import { expect, it } from "vitest";
import { TransactionError } from "../../src/index.ts";
import { readWithin } from "../../src/transaction/read-within.ts";

const NEVER = new AbortController().signal;

it("what cannot be read for now is unavailable, with what says why; anything else is as it was", async () => {
  const away = new BridgeError("UNAVAILABLE", "its folder is gone: start the process again", { charged: false });
  const read = (error: Error): Promise<unknown> =>
    readWithin(systemClock, NEVER, async () => {
      throw error;
    });
  const unavailable = await read(away).catch((error: unknown) => error);
  expect(unavailable).toBeInstanceOf(TransactionError);
  expect(unavailable).toMatchObject({ kind: "unavailable", message: away.message });
  for (const other of [new Error("a bug"), new BridgeError("INTERNAL", "spoiled", { charged: false })])
    await expect(read(other)).rejects.toBe(other);
});
