import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partsOf } from "./described.ts";
import { type Call, type EveryCall, isOverlay, startWithEveryCall } from "./every-call.ts";

/** A secret in the place of a name. */
const CANARY = "canary-0123456789";
const REFERENCE = `\${env:${CANARY}}`;

describe("a name that no schema has", () => {
  let every: EveryCall;
  let looked = 0;
  const wrong: string[] = [];
  beforeAll(async () => {
    every = await startWithEveryCall();
  });
  afterAll(() => every.admin[Symbol.asyncDispose]());

  async function sent(call: Pick<Call, "method" | "path">, body: unknown, ...statuses: number[]): Promise<void> {
    looked++;
    const { status, body: answer } = await every.admin.call(call.method, call.path, body);
    if (!statuses.includes(status))
      wrong.push(`${call.method} ${call.path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`);
  }

  /** Each object of a body, with `value` under the name. */
  function* bodies({ schema }: Call, value: unknown): Generator<object> {
    yield { [CANARY]: value };
    if (schema === undefined) return;
    for (const [, part, bodyOf] of partsOf(schema, every.described))
      if (part.type === "object" || part.properties !== undefined) yield bodyOf({ [CANARY]: value }) as object;
  }

  const shows = (): string[] => every.heard().filter((one) => one.includes(CANARY));

  it("is in no record and no line of the log when it is refused, at whatever depth of a body", async () => {
    for (const call of every.calls) {
      if (call.schema === undefined) continue;
      // What nobody names in an overlay may be the name of something.
      const statuses = isOverlay(call) ? [200, 400] : [400];
      for (const value of [1, [{ [CANARY]: null }], REFERENCE, "[REDACTED]"])
        for (const body of bodies(call, value)) await sent(call, body, ...statuses);
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(100);
    expect(every.heard().length).toBeGreaterThan(100);
    expect(shows()).toEqual([]);
  });

  it("nor when it is refused in a document, or in what a transaction would make of it", async () => {
    const { admin, calls, transaction } = every;
    const { text } = (await admin.call("GET", "/config/document")).body as { readonly text: string };
    const stored = JSON.parse(text) as object;
    const put = { method: "PUT", path: `${transaction}/document` };
    const documents = (value: unknown): string[] =>
      calls
        .filter(isOverlay)
        .flatMap((call) => [...bodies(call, value)])
        .map((body) => JSON.stringify({ ...stored, ...body, [CANARY]: value }));
    for (const value of [REFERENCE, "[REDACTED]"])
      for (const document of documents(value)) await sent(put, { text: document }, 400);
    for (const document of documents(1)) {
      // What is for the document alone is refused at once.
      await sent(put, { text: document }, 200, 400);
      await sent({ method: "POST", path: `${transaction}/validate` }, undefined, 200);
      await sent({ method: "POST", path: `${transaction}/commit` }, undefined, 422);
    }
    for (const document of [`{"${CANARY}": 1, "${CANARY}": 2}`, `{"a": {"${CANARY}": 1, "${CANARY}": 2}}`])
      await sent(put, { text: document }, 400);
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(200);
    expect(every.heard().length).toBeGreaterThan(200);
    expect(shows()).toEqual([]);
  });

  it("is told to whoever sent it", async () => {
    const { admin, transaction } = every;
    const place = `${CANARY}: unknown field`;
    const patched = await admin.call("PATCH", transaction, { http: { api_keys: [{ [CANARY]: 1 }] } });
    expect(patched.body).toMatchObject({ error: expect.stringContaining(`http.api_keys[0].${place}`) as string });
    const said = JSON.stringify(admin.events.at(-1));
    expect(said).toContain("http.api_keys[0]: unknown field");
    expect(said).not.toContain(CANARY);
  });
});
