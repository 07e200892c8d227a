import { type Answer } from "./admin.ts";

/** As much of a browser as a session needs: it keeps one cookie, and says where its page is from. */
export class Browser {
  readonly #origin: string;
  cookie = "";

  /** Its page is from there. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** What it sends with a request of its page; without `console` it has not the header of the console. */
  headers(extra: Readonly<Record<string, string>> = {}): RequestInit {
    return { headers: { Cookie: this.cookie, Origin: this.#origin, "X-Bridge-Console": "1", ...extra } };
  }

  /** Takes the cookie of an answer; answers with whether there was one. */
  keep({ headers }: Pick<Answer, "headers">): boolean {
    const [first] = headers.getSetCookie();
    if (first === undefined) return false;
    this.cookie = first.split(";")[0] ?? "";
    return true;
  }
}
