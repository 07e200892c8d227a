import { recordedText, type Said, toldText } from "@bridge/ports/internal";
import type { Detail } from "./endpoint.ts";

/** What is said of an error to programs and to the audit log. */
export interface HttpErrorFacts {
  /** For programs: in the answer, beside the message. */
  readonly fields?: Detail;
  /** For the audit record, beside status, message and fields: what was done before it failed. */
  readonly detail?: Detail;
}

/**
 * A request that is answered with an error: `{"error": told}` (spec 7.2). Its `message`, for records and logs, is the same without what
 * shows something of the request.
 */
export class HttpError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "HttpError" });
  }

  readonly status: number;
  /** The message for the caller to read. */
  readonly told: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly facts: HttpErrorFacts;

  constructor(status: number, said: Said, headers: Readonly<Record<string, string>> = {}, facts: HttpErrorFacts = {}) {
    super(recordedText(said));
    this.status = status;
    this.told = toldText(said);
    this.headers = headers;
    this.facts = facts;
  }
}
