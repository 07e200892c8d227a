import type { Envelope } from "@bridge/ports";
import type { Changes } from "./changes.ts";
import { compileExpression, type Expression } from "./expression.ts";
import { checkJsonLength, parseJson } from "./json.ts";
import { Refusal } from "./refusal.ts";

/** The expressions of a transformation, as they are written, and its bounds. */
export interface TransformationConfig {
  readonly payload: string | undefined;
  readonly contentType: string | undefined;
  readonly subject: string | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of the payload that is made. */
  readonly maxBytes: number;
}

/** The most characters of the texts that expressions may make. */
const TEXT_LIMITS = { subject: 65_536, header: 8_192, contentType: 1_024 } as const;

/** Evaluates all expressions against the message as it came in. */
type Transformation = (envelope: Envelope) => Promise<Changes>;

const utf8 = new TextEncoder();

/** Compiles a transformation. */
export async function compileTransformation(config: TransformationConfig): Promise<Transformation> {
  const { timeoutMs, maxBytes } = config;
  const compile = async (text: string | undefined): Promise<Expression | undefined> =>
    text === undefined ? undefined : compileExpression(text, timeoutMs);
  const payload = await compile(config.payload);
  const contentType = await compile(config.contentType);
  const subject = await compile(config.subject);
  const headers: [string, Expression][] = [];
  for (const [name, text] of Object.entries(config.headers)) {
    headers.push([name, await compileExpression(text, timeoutMs)]);
  }
  return async (envelope) => {
    const document = documentOf(envelope);
    const changes: { -readonly [key in keyof Changes]: Changes[key] } = {};
    if (payload !== undefined) {
      changes.payload = await named("payload", async () => toPayload(await payload(document), maxBytes));
      changes.contentType = "application/json";
    }
    if (contentType !== undefined) {
      changes.contentType = await named("content_type", async () =>
        toText(await contentType(document), TEXT_LIMITS.contentType),
      );
    }
    if (subject !== undefined) {
      changes.subject = await named("subject", async () => toText(await subject(document), TEXT_LIMITS.subject));
    }
    if (headers.length > 0) {
      const changed: Record<string, string | null> = {};
      for (const [name, value] of headers) {
        changed[name] = await named(`headers.${name}`, async () => toHeader(await value(document)));
      }
      changes.headers = changed;
    }
    return changes;
  };
}

/** What expressions see. A payload that is not JSON fails the message only when an expression looks at it. */
function documentOf(envelope: Envelope): object {
  let parsed: { readonly value: unknown } | undefined;
  return {
    id: envelope.id,
    source_id: envelope.sourceId,
    correlation_id: envelope.correlationId,
    received_at: envelope.receivedAt,
    subject: envelope.subject,
    content_type: envelope.contentType,
    headers: envelope.headers,
    get payload() {
      parsed ??= { value: parseJson(envelope.payload) };
      return parsed.value;
    },
  };
}

/** Runs one step; a refusal says of which option it comes. */
async function named<T>(option: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    if (thrown instanceof Refusal) throw new Refusal(thrown.code, `${option}: ${thrown.message}`);
    throw thrown;
  }
}

function toPayload(value: unknown, maxBytes: number): Uint8Array {
  if (value === undefined) throw new Refusal("INVALID_PAYLOAD", "gives nothing for this message");
  checkJsonLength(value, maxBytes, () => {
    throw new Refusal("INVALID_PAYLOAD", "gives a function, which JSON cannot hold");
  });
  const bytes = utf8.encode(JSON.stringify(value));
  if (bytes.length > maxBytes) throw new Refusal("PAYLOAD_TOO_LARGE", `makes more than ${maxBytes} bytes`);
  return bytes;
}

function toHeader(value: unknown): string | null {
  return value === undefined || value === null ? null : toText(value, TEXT_LIMITS.header);
}

function toText(value: unknown, maxLength: number): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw new Refusal("INVALID_PAYLOAD", "gives no text, number, true or false for this message");
  }
  const text = String(value);
  if (text.length > maxLength) {
    throw new Refusal("PAYLOAD_TOO_LARGE", `makes a text of more than ${maxLength} characters`);
  }
  return text;
}
