/** Links of a package's README, which are read where the repository is not: on npm, and in `node_modules`. @module */
import { existsSync } from "node:fs";
import { join, normalize, relative } from "node:path/posix";

/** `](target)`, and `<img src="target">`. */
const LINK = /(\]\(|src=")([^)"\s]+)(?=[)"])/g;
const ELSEWHERE = /^(?:[a-z]+:|#)/;

/** Each link that leaves the package leads to the repository in full. */
export function withAbsoluteLinks(readme: string, folder: string, repository: string): string {
  return readme.replaceAll(LINK, (link: string, before: string, target: string) => {
    if (ELSEWHERE.test(target)) return link;
    const place = normalize(join(folder, target));
    if (place.startsWith(`${folder}/src`) || place.startsWith(`${folder}/CHANGELOG`)) return link;
    return `${before}${repository}/${isFile(place) ? "blob" : "tree"}/main/${place}`;
  });
}

/** Links into the repository that lead nowhere. */
export function deadLinks(readme: string, folder: string, repository: string): readonly string[] {
  return [...readme.matchAll(LINK)].flatMap(([, , target = ""]) => {
    const inside = [`${repository}/blob/main/`, `${repository}/tree/main/`].find((start) => target.startsWith(start));
    if (inside === undefined && ELSEWHERE.test(target)) return [];
    const place = inside === undefined ? join(folder, target) : target.slice(inside.length);
    return existsSync(relative(".", place.replace(/#.*$/, ""))) ? [] : [target];
  });
}

/** By its name: what a link leads to need not be there, which is said elsewhere. */
function isFile(place: string): boolean {
  return /(?:\.\w+|Dockerfile|LICENSE)(?:#.*)?$/.test(place);
}
