import type { Binary } from "./binary.ts";

/** What becomes of the service of a store: it refuses connections, never answers, or answers with errors. */
export type Trouble = "refuses" | "hangs" | "answers errors";

/** The outbox of a bridge, and how to take it away and bring it back. */
export interface AwayStore extends AsyncDisposable {
  /** For `stores.outbox`. */
  readonly block: string;
  /** A process of the bridge that has such stores, with the folder's `bridge.yaml`. */
  run(): Binary;
  begin(trouble: Trouble): Promise<void>;
  end(): Promise<void>;
}
