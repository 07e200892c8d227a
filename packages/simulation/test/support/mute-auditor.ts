import type { Auditor } from "../../src/run/auditor.ts";

/** Books, books within them, and whatever is written there. */
const books: object = new Proxy(() => {}, { get: (_, name) => (name === "written" ? () => [] : books) });

/** What a suite does is none of what a plan says, so that there is nothing to audit. */
export const muteAuditor = new Proxy({}, { get: (_, name) => (name === "violated" ? () => {} : books) }) as Auditor;
