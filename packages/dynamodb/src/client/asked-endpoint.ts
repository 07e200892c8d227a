import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

interface Asked {
  readonly protocol?: string;
  readonly hostname?: string;
  readonly port?: number;
}

const ENDPOINTS = new WeakMap<object, string>();

/** Has each error of a request remember where that was sent to, which its own text does not say. */
export function rememberEndpoints(sdk: DynamoDBClient): void {
  sdk.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (thrown) {
        const { protocol = "", hostname = "", port } = args.request as Asked;
        const at = port === undefined ? "" : `:${port}`;
        if (typeof thrown === "object" && thrown !== null) ENDPOINTS.set(thrown, `${protocol}//${hostname}${at}`);
        throw thrown;
      }
    },
    { step: "finalizeRequest", name: "bridgeEndpoint" },
  );
}

/** Such as `https://dynamodb.eu-central-1.amazonaws.com`; `undefined` when nothing was sent. */
export function endpointOf(thrown: unknown): string | undefined {
  return typeof thrown === "object" && thrown !== null ? ENDPOINTS.get(thrown) : undefined;
}
