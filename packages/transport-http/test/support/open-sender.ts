import { type Envelope, type Sender, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { httpTransport } from "../../src/http-transport.ts";

/** A sender built as the configuration would build it. */
export async function buildSender(options: unknown): Promise<Sender> {
  const factory = httpTransport().sender;
  if (factory === undefined) throw new Error("the plugin has no sender");
  const parsed = await factory.options["~standard"].validate(options);
  if (parsed.issues !== undefined) throw new Error(parsed.issues.map(({ message }) => message).join("; "));
  return factory.create(parsed.value, {
    id: "out",
    clock: systemClock,
    random: systemRandom(),
    logger: silentLogger,
  });
}

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  return {
    id: "e-1",
    sourceId: "test",
    subject: "line-1/temp",
    contentType: "text/plain",
    headers: {},
    payload: Buffer.from("payload"),
    correlationId: "c-1",
    receivedAt: 0,
    ...fields,
  };
}

/** A signal that does not abort. */
export function never(): AbortSignal {
  return new AbortController().signal;
}
