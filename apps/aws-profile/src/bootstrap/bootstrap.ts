import type { HttpSection } from "@bridge/config";

/** A bootstrap document that has passed its checks: what the rest of the program reads. */
export interface Bootstrap {
  readonly bridgeId: string;
  readonly instanceId: string | undefined;
  readonly configSource:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "dynamodb"; readonly tableName: string };
  readonly pollIntervalMs: number;
  /** `undefined`: the environment holds the key, or there is none. */
  readonly adminKeyParam: string | undefined;
  readonly monitorKeyParam: string | undefined;
  readonly listeners: Listeners;
  /** Whether the document says where the admin server listens: then there has to be one. */
  readonly wantsAdmin: boolean;
  /** `undefined`: none are written. */
  readonly metrics: { readonly namespace: string; readonly intervalMs: number } | undefined;
}

interface Listeners {
  readonly adminAddr: string;
  readonly monitorAddr: string;
  readonly corsOrigins: readonly string[];
  readonly sessions: NonNullable<HttpSection["sessions"]>;
  /** Both are empty, or none is. */
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
}
