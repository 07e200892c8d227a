import { expect, test } from "vitest";
import { Checkpointer } from "../../src/database/checkpointer.ts";
import { scratchFolder } from "./support/notes.ts";

test("a thread that cannot be started is told as a checkpoint that failed, and later turns are not held up by it", async () => {
  using scratch = scratchFolder();
  const none = new Error("no more threads");
  let tries = 0;
  const checkpointer = new Checkpointer(scratch.path, () => {
    tries++;
    throw none;
  });
  expect(await checkpointer.open()).toEqual({ error: none });
  expect(await checkpointer.run()).toMatchObject({ error: { message: "the checkpoint thread has ended" } });
  expect(await checkpointer.open()).toEqual({ error: none });
  expect(tries).toBe(2);
  await checkpointer.close();
});
