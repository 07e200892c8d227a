import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CONTENDERS, type Settings } from "./contender.ts";
import { ENGINE_ALONE, runEngine } from "./engine-suite.ts";
import { alternate, type Measurement } from "./measurement.ts";

const NOT_SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

const ROWS: readonly (readonly [name: string, row: { readonly ratio: number; readonly traceparent?: string }])[] = [
  ["messages that their source does not sample", { ratio: 1, traceparent: NOT_SAMPLED }],
  ["none sampled, no trace context", { ratio: 0 }],
  ["1 % sampled", { ratio: 0.01 }],
  ["all sampled", { ratio: 1 }],
];

/** What tracing costs the engine; the yardstick is the same bridge without it, on the same messages. */
export async function* tracingSuite(settings: Settings): AsyncGenerator<Measurement> {
  await using collector = await swallowingCollector();
  for (const [name, { ratio, traceparent }] of ROWS) {
    const runs = await alternate(settings.rounds, CONTENDERS, (contender) =>
      runEngine(
        ENGINE_ALONE,
        {
          window: 100,
          size: 256,
          accept: "turn",
          traceparent,
          tracing: contender === "bridge" ? { ratio, collector: collector.url } : undefined,
        },
        settings,
      ),
    );
    yield { suite: "tracing", name, runs };
  }
}

/** Takes whatever it is sent. */
async function swallowingCollector(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
