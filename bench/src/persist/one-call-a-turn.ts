import { setImmediate as turn } from "node:timers/promises";
import type { OutboxRecord } from "@bridge/ports";

/** Persists in one call what is asked for in one turn of the event loop, as the engine does. */
export function oneCallATurn(
  persist: (records: readonly OutboxRecord[]) => Promise<unknown>,
): (record: OutboxRecord) => Promise<void> {
  let records: OutboxRecord[] = [];
  let waiting: (() => void)[] = [];

  async function flush(): Promise<void> {
    await turn();
    const [persisted, told] = [records, waiting];
    [records, waiting] = [[], []];
    await persist(persisted);
    for (const tell of told) tell();
  }

  return (record) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (records.push(record) === 1) void flush();
    });
}
