/** What a program between two ends is told. */
export interface RouteJob {
  /** A topic, or for HTTP a path. */
  readonly from: { readonly port: number; readonly name: string };
  readonly to: { readonly port: number; readonly name: string };
  /** The most messages held unacknowledged at once. */
  readonly window: number;
}

export function routeJob(): RouteJob {
  return JSON.parse(process.argv[2] ?? "") as RouteJob;
}
