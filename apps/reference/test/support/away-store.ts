import type { Binary } from "./binary.ts";

/** What becomes of the service of a store: it refuses connections, never answers, or answers with errors. */
export type ServiceTrouble = "refuses" | "hangs" | "answers errors";
/** What becomes of the file of a store, or of its disk. */
type FileTrouble = "has a full disk" | "is moved away";
export type Trouble = ServiceTrouble | FileTrouble;

/** The outbox of a bridge, and how to take it away and bring it back. */
export interface AwayStore extends AsyncDisposable {
  /** For `stores.outbox`. */
  readonly block: string;
  /** A process of the bridge that has such stores, with the folder's `bridge.yaml`. */
  run(): Binary;
  begin(trouble: Trouble): Promise<void>;
  end(): Promise<void>;
}
