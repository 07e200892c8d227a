import type { Path } from "@bridge/config";
import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, type Node } from "yaml";

/**
 * The offset of what `path` names: of a key, or of an element of a list. Of a path that goes further than the document
 * does, the last part that is there.
 */
export function locate(root: Node | null, targets: ReadonlyMap<Alias, Node>, path: Path): number | undefined {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const key of path) {
    if (isAlias(node)) node = targets.get(node);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof key === "number" && key < node.items.length) {
      node = node.items[key];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
