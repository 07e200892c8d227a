import { Ajv } from "ajv";

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, unknown>> }>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Holds answers against an OpenAPI document, in which no answer may have a field that is not described. */
export class Documented {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv({ strict: false, validateFormats: false });
  readonly #covered = new Set<string>();

  constructor(document: OpenApiDocument) {
    this.#document = sealed(document) as OpenApiDocument;
    this.#ajv.addSchema(this.#document, "document");
  }

  /** `GET /api/v1/…` of every operation. */
  get operations(): readonly string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** `GET /api/v1/… 200` of every answer that was held against the document. */
  get covered(): ReadonlySet<string> {
    return this.#covered;
  }

  /** @throws Error when the document does not say that `operation` answers like this */
  async hold(operation: string, response: Response): Promise<void> {
    const [method = "", path = ""] = operation.split(" ");
    const { status } = response;
    const text = await response.text();
    const content = this.#document.paths[path]?.[method.toLowerCase()]?.responses[status]?.content;
    if (content === undefined) throw new Error(`${operation} answered ${status}, which is not documented: ${text}`);
    const type = response.headers.get("Content-Type") ?? "";
    if (!(type in content))
      throw new Error(`${operation} ${status} has type ${type}, not ${Object.keys(content).join()}`);
    const pointer = ["paths", path, method.toLowerCase(), "responses", status, "content", type, "schema"];
    const ref = pointer.map((key) => encodeURIComponent(String(key).replaceAll("~", "~0").replaceAll("/", "~1")));
    const validate = this.#ajv.compile({ $ref: `document#/${ref.join("/")}` });
    if (!validate(type === "application/json" ? JSON.parse(text) : text))
      throw new Error(`${operation} ${status}: ${this.#ajv.errorsText(validate.errors)} in ${text}`);
    this.#covered.add(`${operation} ${status}`);
  }
}

/** The document with every object closed to fields that it does not name. */
function sealed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(sealed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, sealed(value)]));
  return copy["type"] === "object" && "properties" in copy && !("additionalProperties" in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
