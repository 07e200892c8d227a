import type { Detail } from "./endpoint.ts";

/** A request that is answered with an error: `{"error": message}` (spec 7.2). The message is for the caller to read. */
export class HttpError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "HttpError" });
  }

  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For the audit record, beside status and message: what was done before it failed. */
  readonly detail: Detail;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, detail: Detail = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.detail = detail;
  }
}
