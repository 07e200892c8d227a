/** Disarms its thread and tells which kinds of function lead to a compiler before and after. @module */
import { parentPort } from "node:worker_threads";
import { disarm } from "../../src/disarm.ts";

const KINDS = {
  function: () => {},
  async: async () => {},
  generator: function* () {},
  "async generator": async function* () {},
  "built in": Math.max,
};

function armed(): readonly string[] {
  return Object.entries(KINDS)
    .filter(([, kind]) => {
      try {
        return (kind.constructor as (code: string) => () => unknown)("return 7")() !== undefined;
      } catch {
        return false;
      }
    })
    .map(([name]) => name);
}

const before = armed();
disarm();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, not a window
parentPort?.postMessage({ before, after: armed() });
