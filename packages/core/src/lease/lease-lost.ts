/** An exclusive session has stepped down from its lease and cannot get it back: only a new process may try again (spec 3.1). */
export class LeaseLost extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "LeaseLost" });
  }

  constructor(sessionId: string, why: string) {
    super(`session ${sessionId} has lost its lease and cannot get it back: ${why}`);
  }
}
