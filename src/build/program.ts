import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const projectUrl = new URL("../../", import.meta.url);

/** The bundles of the program, each in a folder that is named after the state of its sources. */
export const bundlesUrl = new URL("dist/server/", projectUrl);

/** The program to start: the bundle of these very sources, or the sources where there is none. */
export function programUrl(): string {
  const bundled = new URL(`${stateOfSources()}/main.js`, bundlesUrl);
  return (existsSync(bundled) ? bundled : new URL("src/main.ts", projectUrl)).href;
}

/** Changes when a file of the program or a version of a package is edited, added or removed. */
export function stateOfSources(): string {
  const state = createHash("sha256");
  const add = (name: string): void => {
    const { mtimeMs, size } = statSync(fileURLToPath(new URL(name, projectUrl)));
    // Layers of images keep whole seconds.
    state.update(`${name} ${size} ${Math.floor(mtimeMs / 1_000)}\n`);
  };
  for (const folder of ["src", "adapters"]) {
    const names = readdirSync(new URL(folder, projectUrl), { recursive: true, encoding: "utf8" });
    for (const name of names.toSorted()) {
      if (/(?<!\.test)\.(?:ts|tsx|css)$/u.test(name)) add(`${folder}/${name}`);
    }
  }
  add("package.json");
  return state.digest("hex").slice(0, 16);
}
