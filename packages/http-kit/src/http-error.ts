import type { Detail } from "./endpoint.ts";

/** What is said of an error to programs and to the audit log. */
export interface HttpErrorFacts {
  /** For programs: in the answer, beside the message. */
  readonly fields?: Detail;
  /** For the audit record, beside status, message and fields: what was done before it failed. */
  readonly detail?: Detail;
}

/** A request that is answered with an error: `{"error": message}` (spec 7.2). The message is for the caller to read. */
export class HttpError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "HttpError" });
  }

  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly facts: HttpErrorFacts;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    facts: HttpErrorFacts = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.facts = facts;
  }
}
