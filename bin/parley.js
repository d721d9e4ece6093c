#!/usr/bin/env node
/// <reference types="node" />
// Plain JavaScript, so that it also runs, and can say what is wrong, on a Node.js that cannot run TypeScript.
import { fileURLToPath } from "node:url";

const needed = [24, 15];
const version = process.versions.node.split(".").map(Number);
const tooOld = version[0] < needed[0] || (version[0] === needed[0] && version[1] < needed[1]);

if (tooOld) {
  process.stderr.write(
    `parley needs Node.js ${needed.join(".")} or newer, and this is ${process.versions.node} (${process.execPath}).\n` +
      "In the project's folder, npm brings the right one: npm ci && npm run -s parley -- <command>\n",
  );
  process.exitCode = 1;
} else {
  // The compiled code is cached: later starts are faster, and do not hold the type stripper in memory. Without write access
  // to the folder, each start compiles.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/parley", import.meta.url)));
  await import("#build/start.ts");
}
