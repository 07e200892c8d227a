import type { PemRole } from "@bridge/ports/tls";
import type { BridgeConfig } from "./model.ts";
import type { Path, Problem } from "./problem.ts";

/** Where the application's servers listen when a document has no `http` block. */
export interface UsualServers {
  /** Absent: there is no admin server. */
  readonly adminAddr?: string | undefined;
  readonly monitorAddr?: string | undefined;
}

/** `read`: it has to be there. `kept`: it is made when it is missing. */
export type FileUse = "read" | "kept";

export interface NamedPemFile {
  readonly role: PemRole;
  /** Of a key: the file of its certificate, as the document names it. */
  readonly certificate?: string | undefined;
}

/** A file that a document names. */
export interface FileNamed {
  readonly path: string;
  readonly use: FileUse;
  /** Of a PEM file: what it has to hold. */
  readonly pem?: NamedPemFile | undefined;
  /** Where in the document. */
  readonly place: Path;
}

/** What is wrong with a file, as the end of a sentence that names it, with the remedy. */
export interface FileFault {
  /** `warning`: a start uses it all the same. */
  readonly kind: "problem" | "warning";
  readonly words: string;
}

/** What is wrong with a file that would be used; `undefined` when nothing is. */
export type UnusableFile = (file: FileNamed) => FileFault | undefined;

/** What a document may not get in the way of, besides itself. */
export interface Surroundings {
  /**
   * Whether the document itself lies at a place, as `filePlace` tells it, or something that is kept beside it: nothing
   * else may. Absent: it lies in no file.
   */
  readonly isOwnPlace?: ((place: string) => boolean) | undefined;
  /** Absent: the servers, if there are any, listen where nobody else does. */
  readonly servers?: UsualServers | undefined;
  /** Looks at the files that the document names. Absent: nobody does, and the start tells. */
  readonly whyUnusable?: UnusableFile | undefined;
}

/** What a document is held against that the next start of this process would run: as that start would refuse it. */
export interface StartChecks {
  readonly whyUnusable: UnusableFile;
  /** What keeps a process from a configuration that nothing is wrong with by itself; its words never hold a secret. */
  readonly refusals: (config: BridgeConfig) => readonly Problem[];
}
