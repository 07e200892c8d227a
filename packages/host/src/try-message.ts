import type { Registry } from "@bridge/config";
import { explain, type Explanation } from "@bridge/core";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { deadline, printable } from "@bridge/ports/internal";
import { checkedFile } from "./configuration.ts";
import type { Flags } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";

/** No receiver takes a larger payload. */
const MAX_PAYLOAD_BYTES = 268_435_456;
const TIMEOUT_MS = 60_000;

/**
 * Tells what a route would do with the payload on standard input (`-try`): which processors did what, the bindings
 * chosen and their addresses, or why not. Opens nothing, sends nothing and shows no payload. Resolves to whether the
 * message would be sent to every binding that was chosen.
 * @throws Error when the route is unknown or the payload too large
 */
export async function tryMessage(flags: Flags, registry: Registry, host: HostProcess): Promise<boolean> {
  const config = await checkedFile(flags.try, registry, host);
  if (config === undefined) return false;
  if (!config.routes.some(({ id }) => id === flags.route)) {
    const known = config.routes.map(({ id }) => id).join(", ");
    throw new Error(`${flags.try} has no route "${flags.route}"; it has: ${known === "" ? "none" : known}`);
  }
  const message = { subject: flags.subject, headers: headersOf(flags), payload: await payloadOf(host) };
  using bound = deadline(systemClock, TIMEOUT_MS, new Error("the processors did not end in 60 s"));
  const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };
  const explanation = await explain({ ...seams, config, registry, routeId: flags.route, message }, bound.signal);
  for (const line of linesOf(explanation)) host.stdout.write(`${printable(line)}\n`);
  return explanation.error === undefined && explanation.bindings.every(({ error }) => error === undefined);
}

function headersOf({ header }: Flags): Record<string, string> {
  return Object.fromEntries(
    header.map((each) => {
      const at = each.indexOf("=");
      return [each.slice(0, at), each.slice(at + 1)];
    }),
  );
}

async function payloadOf({ stdin }: HostProcess): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_PAYLOAD_BYTES) throw new Error(`the payload is larger than ${MAX_PAYLOAD_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function* linesOf({ received, processors, sent, bindings, error }: Explanation): Generator<string> {
  const describe = ({ subject, payload, headers }: typeof sent): string =>
    `subject ${JSON.stringify(subject)}, ${payload.length} bytes, headers ${Object.keys(headers).join(" ") || "none"}`;
  yield `received   ${describe(received)}`;
  for (const step of processors) {
    yield `processor  ${step.id}: ${step.did}${step.error === undefined ? "" : ` (${step.error.code}: ${step.error.message})`}`;
  }
  if (error !== undefined) {
    yield `nowhere    ${error.code}: ${error.message}`;
    return;
  }
  yield `sent       ${describe(sent)}`;
  for (const step of bindings) {
    const address = step.address === "" ? "the sender's own address" : step.address;
    yield `binding    ${step.id}: ${step.error === undefined ? address : `${step.error.code}: ${step.error.message}`}`;
  }
}
