/** Where the application's servers listen when a document has no `http` block. */
export interface UsualServers {
  /** Absent: there is no admin server. */
  readonly adminAddr?: string | undefined;
  readonly monitorAddr?: string | undefined;
}

/** What a document may not get in the way of, besides itself. */
export interface Surroundings {
  /** Where the document itself lies, as `filePlace` tells it: nothing else may. Absent: in no file. */
  readonly place?: string | undefined;
  /** Absent: the servers, if there are any, listen where nobody else does. */
  readonly servers?: UsualServers | undefined;
}
