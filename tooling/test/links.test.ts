import { expect, test } from "vitest";
import { withAbsoluteLinks } from "../manifests/links.ts";

const REPOSITORY = "https://example.org/bridge";
const absolute = (text: string): string => withAbsoluteLinks(text, "packages/core", REPOSITORY);

test.each([
  ["[a](../../docs/aws.md#keys)", `[a](${REPOSITORY}/blob/main/docs/aws.md#keys)`],
  ["[a](../host)", `[a](${REPOSITORY}/tree/main/packages/host)`],
  ['<img src="../../docs/a.svg">', `<img src="${REPOSITORY}/blob/main/docs/a.svg">`],
])("a link that leaves the package is absolute: %s", (link, expected) => expect(absolute(link)).toBe(expected));

test.each(["[a](src/index.ts)", "[a](#keys)", "[a](https://example.org/)", "[a](CHANGELOG.md)"])(
  "a link that works everywhere is left alone: %s",
  (link) => expect(absolute(link)).toBe(link),
);
