import { tcpProxy } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import type { TestSchema } from "@bridge/tooling/test-postgres";
import type { PostgresDlq } from "../../../src/dlq/open-postgres-dlq.ts";
import { openDlq } from "./dlq.ts";

const { signal } = new AbortController();

export interface FarStore extends AsyncDisposable {
  readonly store: PostgresDlq;
  /** Makes a call whose answer gets lost once the server has done what it asks for, which `isDone` tells: it is tried again. */
  losing<T>(call: () => Promise<T>, isDone: () => Promise<boolean>): Promise<T>;
}

/** A store on the far side of a line that can be cut. */
export async function farStore(connection: TestSchema["connection"]): Promise<FarStore> {
  const url = new URL(connection.url);
  const proxy = await tcpProxy({ target: { port: Number(url.port) } });
  url.port = String(proxy.port);
  const store = await openDlq({ ...connection, url: url.href }, { clock: systemClock, tryTimeoutMs: 2_000 });
  return {
    store,
    async losing(call, isDone) {
      await store.count(1, signal);
      proxy.delay(100);
      const called = call();
      while (!(await isDone())) await systemClock.delay(1, signal);
      proxy.cut();
      await proxy.restore();
      return called;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
