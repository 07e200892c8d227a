/**
 * For tests of servers: holds what they answer against what their OpenAPI document says. @module
 */
import { STREAM_TYPE } from "./event-stream.ts";

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, unknown>> }>>;
}

/** As much of an OpenAPI document as has to be understood here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Says what is wrong with `value`, if anything. `schema` is a JSON Schema without references to elsewhere. */
export type Validate = (schema: object, value: unknown) => string | undefined;

/** An OpenAPI document as a test sees it: no answer may have a status, a type or a field that it does not describe. */
export class Documented {
  readonly #document: OpenApiDocument;
  readonly #validate: Validate;
  readonly #seen = new Set<string>();

  constructor(document: OpenApiDocument, validate: Validate) {
    this.#document = sealed(document) as OpenApiDocument;
    this.#validate = validate;
  }

  /** `GET /api/v1/…` for each operation. */
  get operations(): readonly string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** `GET /api/v1/… 200` for each kind of answer that was held against the document. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** @throws Error when the document does not say that such an event comes over the stream of `operation` */
  holdEvent(operation: string, { event, data }: { readonly event: string; readonly data: unknown }): void {
    const [method = "", path = ""] = operation.split(" ");
    const media = this.#document.paths[path]?.[method.toLowerCase()]?.responses[200]?.content[STREAM_TYPE];
    const events = (media as { readonly "x-events"?: Readonly<Record<string, object>> } | undefined)?.["x-events"];
    const schema = events?.[event];
    if (schema === undefined) throw new Error(`${operation} has no event ${event}: ${JSON.stringify(data)}`);
    const problem = this.#validate({ ...this.#document, ...schema }, data);
    if (problem !== undefined) throw new Error(`${operation}, event ${event}: ${problem} in ${JSON.stringify(data)}`);
  }

  /** @throws Error when the document does not say that `operation` answers like this */
  async hold(operation: string, response: Response): Promise<void> {
    const [method = "", path = ""] = operation.split(" ");
    const isStream = response.headers.get("Content-Type") === STREAM_TYPE;
    // It would go on: what its events are is shown by tests of their own, with `holdEvent`.
    if (isStream) await response.body?.cancel();
    const text = isStream ? "" : await response.text();
    const answer = `${operation} ${response.status}`;
    const content = this.#document.paths[path]?.[method.toLowerCase()]?.responses[response.status]?.content;
    if (content === undefined) throw new Error(`${answer} is not documented: ${text}`);
    const type = response.headers.get("Content-Type") ?? "";
    const media = content[type] as { readonly schema: object } | undefined;
    if (media === undefined) throw new Error(`${answer} has the type ${type}, not ${Object.keys(content).join()}`);
    // References point into the document, so it comes along.
    const schema = { ...this.#document, ...media.schema };
    const problem = this.#validate(schema, type === "application/json" ? JSON.parse(text) : text);
    if (problem !== undefined) throw new Error(`${answer}: ${problem} in ${text}`);
    this.#seen.add(answer);
  }
}

/** The same with every object closed to fields that it does not name. */
function sealed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(sealed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, sealed(value)]));
  return copy["type"] === "object" && "properties" in copy && !("additionalProperties" in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
