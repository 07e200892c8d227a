import { expect } from "vitest";
import type { TestSchema } from "@bridge/tooling/test-postgres";
import type { Binary } from "./binary.ts";
import { type Folder, HTTP } from "./folder.ts";

/** Two instances of one bridge whose DLQ and outbox are tables that both share; `policy` is that of their one route, `r`. */
export async function postgresTwins(
  folder: Folder,
  { connection: { url, schema } }: TestSchema,
  target: string,
  policy: string,
): Promise<readonly [Binary, Binary]> {
  const store = `{type: postgres, options: {url: "${url}", schema: ${schema}}}`;
  const document = (name: string): string =>
    folder.write(
      `${name}.yaml`,
      `${HTTP}
bridge: {id: pair, instance_id: ${name}, deployment_mode: clustered}
stores: {dlq: ${store}, outbox: ${store}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: r, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-out], policy: ${policy}}]
`,
    );
  await using maker = folder.run(["-create-tables", "-config", document("tables")]);
  expect(await maker.ended).toBe(0);
  return [folder.run(["-config", document("one")]), folder.run(["-config", document("other")])];
}
