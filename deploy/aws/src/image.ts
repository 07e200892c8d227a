/** Without a tag, which would say something else than the digest one day. */
const PINNED = /^(?:[^\s@/]+\/)*[^\s@/:]+@sha256:[0-9a-f]{64}$/;
const ECR = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/([^@:]+)/;

/** An image by the digest of its content. */
export interface Image {
  readonly name: string;
  /** The registry of an AWS account that it lies in, if it does. */
  readonly ecr?: { readonly account: string; readonly region: string; readonly repository: string };
}

/**
 * A tag can come to mean another program between two starts of a task, so an image is named by its digest only.
 * @throws Error saying what was given and how to find the digest
 */
export function pinnedImage(written: unknown): Image {
  if (typeof written !== "string" || !PINNED.test(written)) {
    throw new Error(
      `image: expected NAME@sha256:… with 64 hex digits and without a tag, not ${JSON.stringify(written)}: ` +
        "`docker buildx imagetools inspect NAME:TAG` and the push itself print the digest",
    );
  }
  const [, account, region, repository] = ECR.exec(written) ?? [];
  if (account === undefined || region === undefined || repository === undefined) return { name: written };
  return { name: written, ecr: { account, region, repository } };
}
