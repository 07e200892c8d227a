import type { Ledger } from "./ledger.ts";
import type { Source } from "./source.ts";
import { MAX_BATCH, SqsPeer } from "./sqs-peer.ts";

/** Messages on their way into the queue. */
const MAX_PENDING = 500;

/** Sends in batches of what comes up in one turn. */
export function sqsSource(port: number, queue: string, ledger: Ledger, onRoom: () => void): Source {
  const peer = new SqsPeer(port, queue);
  let pending = 0;
  let batch: Buffer[] = [];

  async function flush(): Promise<void> {
    const payloads = batch;
    batch = [];
    if (payloads.length === 0) return;
    await peer.send(payloads);
    pending -= payloads.length;
    onRoom();
  }

  return {
    get room() {
      return pending < MAX_PENDING;
    },
    send() {
      const payload = Buffer.allocUnsafe(ledger.size);
      ledger.send(payload, 0);
      pending++;
      const size = batch.push(payload);
      if (size === MAX_BATCH) void flush();
      else if (size === 1) setImmediate(() => void flush());
    },
  };
}
