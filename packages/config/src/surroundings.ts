import type { Path } from "./problem.ts";

/** Where the application's servers listen when a document has no `http` block. */
export interface UsualServers {
  /** Absent: there is no admin server. */
  readonly adminAddr?: string | undefined;
  readonly monitorAddr?: string | undefined;
}

/** `read`: it has to be there. `kept`: it is made when it is missing. */
export type FileUse = "read" | "kept";

/** A file that a document names. */
export interface FileNamed {
  readonly path: string;
  readonly use: FileUse;
  /** Where in the document. */
  readonly place: Path;
}

/** Why a file cannot be used as it would be, with the remedy, as the end of a sentence; `undefined` when it can. */
export type UnusableFile = (file: FileNamed) => string | undefined;

/** What a document may not get in the way of, besides itself. */
export interface Surroundings {
  /** Where the document itself lies, as `filePlace` tells it: nothing else may. Absent: in no file. */
  readonly place?: string | undefined;
  /** Absent: the servers, if there are any, listen where nobody else does. */
  readonly servers?: UsualServers | undefined;
  /** Looks at the files that the document names. Absent: nobody does, and the start tells. */
  readonly whyUnusable?: UnusableFile | undefined;
}
