import type { Binary } from "./binary.ts";

/** What becomes of the service of a store: it refuses connections, never answers, or answers with errors. */
export type ServiceTrouble = "refuses" | "hangs" | "answers errors";
/** What becomes of the file of a store, or of its disk. */
export type FileTrouble = "has a full disk" | "is moved away" | "fails in its sync" | "may not be written to";
/** What becomes of a table in DynamoDB. */
type TableTrouble = "throttles writes" | "lets nobody write" | "has no such table" | "loses answers";
/** What becomes of a database that answers all the same. */
type DatabaseTrouble =
  | "is a standby"
  | "lets nobody insert"
  | "has lost a table"
  | "has lost its functions"
  | "has no connection left"
  | "cuts connections"
  | "answers after 29 s";
export type Trouble = ServiceTrouble | FileTrouble | DatabaseTrouble | TableTrouble;

/** The outbox of a bridge, and how to take it away and bring it back. */
export interface AwayStore extends AsyncDisposable {
  /** For `stores.outbox`. */
  readonly block: string;
  /** A process of the bridge that has such stores, with the folder's `bridge.yaml`. */
  run(): Binary;
  begin(trouble: Trouble): Promise<void>;
  end(): Promise<void>;
}
