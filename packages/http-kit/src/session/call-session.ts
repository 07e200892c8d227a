import { HttpError } from "../http-error.ts";
import type { OpenSession, Sessions } from "./sessions.ts";

/** Headers of the answer. */
type Cookie = Readonly<Record<"Set-Cookie", string>>;

/** What one call can do with the sessions of a server. */
export class CallSession {
  readonly #sessions: Sessions;
  readonly #request: Request;
  readonly #open: OpenSession | undefined;

  /** `open`: what has let the caller in, when it was no key. */
  constructor(sessions: Sessions, request: Request, open: OpenSession | undefined) {
    this.#sessions = sessions;
    this.#request = request;
    this.#open = open;
  }

  /** When the session that let the caller in ends at the latest, in wall-clock milliseconds; `undefined`: a key did. */
  get endsAt(): number | undefined {
    return this.#open?.endsAt;
  }

  /** Begins a session of whoever has shown this key. @throws HttpError 503 without a bridge, 401 when the key was just taken away */
  begin(keyName: string): { readonly endsAt: number; readonly headers: Cookie } {
    const begun = this.#sessions.begin(keyName, this.#request);
    if (begun === undefined) throw new HttpError(503, "runtime not available");
    return { endsAt: begun.endsAt, headers: { "Set-Cookie": begun.cookie } };
  }

  /** Ends the session whose cookie came along, whatever has let the caller in. @throws HttpError 503 without a bridge */
  end(): Cookie {
    const cookie = this.#sessions.end(this.#request);
    if (cookie === undefined) throw new HttpError(503, "runtime not available");
    return { "Set-Cookie": cookie };
  }
}
