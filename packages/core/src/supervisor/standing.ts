import type { BridgeConfig } from "@bridge/config";
import type { Seams } from "@bridge/ports";
import type { Runtime } from "../runtime/runtime.ts";
import type { DepartureNote } from "./departure-note.ts";
import type { Foundation } from "./foundation.ts";
import type { StateMachine } from "./state-machine.ts";

/** What is in force, as starts, stops and changes find it and leave it. They come one at a time. */
export interface Standing {
  readonly seams: Seams;
  readonly foundation: Foundation;
  readonly state: StateMachine;
  readonly departure: DepartureNote;
  /** Aborted when the process is to end. */
  readonly root: AbortSignal;
  config: BridgeConfig;
  /** Under which the stores were opened and messages taken in; not the one that waits for a start. */
  carried: BridgeConfig | undefined;
  /** Also one that has been stopped, until the next start. */
  runtime: Runtime | undefined;
}
